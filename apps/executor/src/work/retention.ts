import { errorFields, type Log, type Worker } from '#runtime';
import type { JournalRepository } from '../adapters/journal.repository.ts';
import { shrinkRecord } from '../domain/shrink-record.ts';

const LIMIT = 200;
const MAX_EVERY_MS = 3_600_000;

export interface RetentionOptions {
  readonly journal: JournalRepository;
  readonly log: Log;
  readonly pool: string;
  /** Milliseconds for which arguments and results are kept after the settlement. */
  readonly keepMs: number;
}

/** Walks the whole records now and then, and shrinks those whose time is over (J16). Replicas may walk at once. */
export class Retention implements Worker {
  readonly #options: RetentionOptions;
  #timer: NodeJS.Timeout | null = null;
  #walking: Promise<void> | null = null;
  #stopped = false;

  constructor(options: RetentionOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.walk(), Math.min(MAX_EVERY_MS, Math.ceil(this.#options.keepMs / 4)));
    this.#timer.unref();
  }

  /** One walk at a time. */
  walk(): Promise<void> {
    this.#walking ??= this.#walk()
      .catch((error: unknown) => this.#options.log.warn(errorFields(error), 'old payloads could not be removed'))
      .finally(() => {
        this.#walking = null;
      });
    return this.#walking;
  }

  async drain(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearInterval(this.#timer);
    await this.#walking;
  }

  async #walk(): Promise<void> {
    const { journal, pool, keepMs, log } = this.#options;
    let shrunk = 0;
    for (let after = ''; !this.#stopped;) {
      const records = await journal.whole(pool, after, LIMIT, keepMs);
      const over = records.flatMap(({ callId, settlement }) =>
        settlement === null ? [] : [{ callId, settlement: shrinkRecord(settlement) }],
      );
      if (over.length > 0) shrunk += await journal.shrink(pool, over);
      if (records.length < LIMIT) break;
      after = records.at(-1)!.callId;
    }
    if (shrunk > 0) log.info({ pool, records: shrunk }, 'payloads that were kept for long enough are gone');
  }
}
