import type { Worker } from './door.ts';
import { errorFields, type Log } from './log.ts';

export interface RepeatedLookOptions {
  /** May look on while `stopped` is false. */
  readonly look: (state: { readonly stopped: boolean }) => Promise<unknown>;
  readonly everyMs: number;
  /** At the start, too. */
  readonly atOnce: boolean;
  readonly log: Log;
  /** What is logged when a look fails. */
  readonly failed: string;
}

/** Looks for work at intervals, never twice at once. A look that fails is told, and the next one tries again. */
export class RepeatedLook implements Worker {
  readonly #options: RepeatedLookOptions;
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> | null = null;
  #stopped = false;

  constructor(options: RepeatedLookOptions) {
    this.#options = options;
  }

  /** From the drain on. */
  get stopped(): boolean {
    return this.#stopped;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.now(), this.#options.everyMs);
    if (this.#options.atOnce) void this.now();
  }

  /** Resolves when a look is over: one that begins now, or the one under way. */
  now(): Promise<void> {
    const { look, log, failed } = this.#options;
    this.#looking ??= look(this)
      .then(() => undefined)
      .catch((error: unknown) => log.warn(errorFields(error), failed))
      .finally(() => {
        this.#looking = null;
      });
    return this.#looking;
  }

  async drain(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    await this.#looking;
  }
}
