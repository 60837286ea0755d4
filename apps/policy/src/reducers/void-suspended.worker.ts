import { errorFields, type Worker } from '#runtime';
import { pendingOf } from '../adapters/approval.repository.ts';
import type { PolicyParts } from './policy-parts.ts';
import { rejudge } from './rejudge-pending.worker.ts';

const LIMIT = 100;

/**
 * What waits for a person when its tenant is suspended is void (`superseded`) and its call ends as denied: what was asked
 * before counts no more when the suspension is lifted. Costs nothing while nobody is suspended.
 */
export class VoidSuspended implements Worker {
  readonly #parts: PolicyParts;
  readonly #everyMs: number;
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> | null = null;

  constructor(parts: PolicyParts, everyMs: number) {
    this.#parts = parts;
    this.#everyMs = everyMs;
  }

  start(): void {
    this.#timer ??= setInterval(() => {
      this.#looking ??= this.#look()
        .catch((error: unknown) =>
          this.#parts.log.warn(
            errorFields(error),
            'approvals of suspended tenants could not be voided; it is tried again',
          ),
        )
        .finally(() => {
          this.#looking = null;
        });
    }, this.#everyMs);
  }

  async drain(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { maker, database } = this.#parts;
    while (maker.suspended.size > 0) {
      const seen = await pendingOf(database, [...maker.suspended], LIMIT);
      if ((await rejudge(this.#parts, seen)) < LIMIT) return;
    }
  }
}
