import { errorFields, type Log, type Worker } from '#runtime';
import type { RunReducer } from './run.reducer.ts';

/** Looks for runs whose wall clock, grace period or re-drive is due. One look at a time; a full one is followed by the next at once. */
export class RunTimers implements Worker {
  readonly #reducer: RunReducer;
  readonly #log: Log;
  readonly #everyMs: number;
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> | null = null;
  #stopped = false;

  constructor(reducer: RunReducer, log: Log, everyMs: number) {
    this.#reducer = reducer;
    this.#log = log;
    this.#everyMs = everyMs;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#tick(), this.#everyMs);
  }

  async drain(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    await this.#looking;
  }

  #tick(): void {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
  }

  async #look(): Promise<void> {
    try {
      while (!this.#stopped && (await this.#reducer.wake()));
    } catch (error) {
      this.#log.warn(errorFields(error), 'looking for due runs failed; it is tried again');
    }
  }
}
