import { stat } from 'node:fs/promises';
import type { Worker } from './door.ts';
import { errorFields, type Log } from './log.ts';

/** How soon a changed file counts. */
const LOOK_MS = 1_000;

export interface WatchedFileOptions<T> {
  readonly file: string;
  /** In the plural, for the log: `the API keys`. */
  readonly what: string;
  /** @throws CountersignError INVALID_ARGS with every fault of the file */
  readonly read: (file: string) => Promise<T>;
  readonly count: (value: T) => number;
  readonly log: Log;
}

/**
 * What a file says as it is now, without a restart.
 * F1 a file that cannot be read keeps what it said before, and the log says so each time that it changes: a slip of the
 *    pen locks nobody out;
 * F2 a change counts a second later.
 */
export class WatchedFile<T> implements Worker {
  readonly #options: WatchedFileOptions<T>;
  #current: T;
  #seen: string;
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> = Promise.resolve();

  /** @throws what `read` throws */
  static async open<T>(options: WatchedFileOptions<T>): Promise<WatchedFile<T>> {
    const seen = await stampOf(options.file);
    return new WatchedFile(options, await options.read(options.file), seen);
  }

  private constructor(options: WatchedFileOptions<T>, current: T, seen: string) {
    this.#options = options;
    this.#current = current;
    this.#seen = seen;
  }

  get current(): T {
    return this.#current;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#looking = this.look();
    }, LOOK_MS);
    this.#timer.unref();
  }

  async drain(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    await this.#looking;
  }

  /** Reads the file again if it has changed. */
  async look(): Promise<void> {
    const { file, what, read, count, log } = this.#options;
    const stamp = await stampOf(file);
    if (stamp === this.#seen) return;
    this.#seen = stamp;
    try {
      this.#current = await read(file);
      log.info({ count: count(this.#current) }, `${what} were read again`);
    } catch (error) {
      log.error(errorFields(error), `${what} were changed and cannot be read; those from before still count`);
    }
  }
}

/** Changes with every change of the file. */
const stampOf = (file: string): Promise<string> =>
  stat(file, { bigint: true }).then(
    ({ mtimeNs, size, ino }) => `${mtimeNs} ${size} ${ino}`,
    () => 'absent',
  );
