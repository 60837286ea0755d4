import { stat } from 'node:fs/promises';
import { errorFields, type Log, type Worker } from '#runtime';
import { readApiKeys, type ApiKey, type ApiKeys } from './api-keys.ts';

/** How soon a changed file counts. */
const LOOK_MS = 1_000;

/**
 * The keys that are accepted, as the file has them now.
 * F1 a file that cannot be read keeps the last good keys, and the log says so each time that it changes: a slip of the
 *    pen locks nobody out;
 * F2 whoever revokes a key does so by `revoked: true` or by removing it; a second later it is refused.
 */
export class KeyFile implements Worker {
  readonly #file: string;
  readonly #log: Log;
  #keys: ApiKeys;
  #seen: string;
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> = Promise.resolve();

  /** @throws CountersignError INVALID_ARGS with every fault of the file */
  static async open(file: string, log: Log): Promise<KeyFile> {
    const seen = await stampOf(file);
    return new KeyFile(file, log, await readApiKeys(file), seen);
  }

  private constructor(file: string, log: Log, keys: ApiKeys, seen: string) {
    this.#file = file;
    this.#log = log;
    this.#keys = keys;
    this.#seen = seen;
  }

  find(keySha256: string): ApiKey | undefined {
    return this.#keys.get(keySha256);
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
    const stamp = await stampOf(this.#file);
    if (stamp === this.#seen) return;
    this.#seen = stamp;
    try {
      this.#keys = await readApiKeys(this.#file);
      this.#log.info({ keys: this.#keys.size }, 'the API keys were read again');
    } catch (error) {
      this.#log.error(
        errorFields(error),
        'the API keys were changed and cannot be read; those from before still count',
      );
    }
  }
}

/** Changes with every change of the file. */
const stampOf = (file: string): Promise<string> =>
  stat(file, { bigint: true }).then(
    ({ mtimeNs, size, ino }) => `${mtimeNs} ${size} ${ino}`,
    () => 'absent',
  );
