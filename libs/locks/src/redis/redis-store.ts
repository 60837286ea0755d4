import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { InfrastructureError } from '#kernel';
import type { LockStore, TakeRequest } from '../lock-store.port.ts';

/** Longest wait for a connection or an answer before the lock counts as unavailable. */
const PATIENCE_MS = 1000;
/** A waiter polls every 50 ms at most; ten missed polls mean that it is gone. */
const PLACE_MS = 500;

const script = (name: string): string => readFileSync(new URL(`./${name}.lua`, import.meta.url), 'utf8');

interface Scripts {
  takeLocks(count: number, ...rest: (string | number)[]): Promise<number>;
  renewLocks(count: number, ...rest: (string | number)[]): Promise<number>;
  releaseLocks(count: number, ...rest: (string | number)[]): Promise<number>;
}

const triple = (resource: string): string[] => [`cs:lock:${resource}`, `cs:line:${resource}`, `cs:seen:${resource}`];

/** Commands of one tick travel together (automatic pipelining); without a connection they fail at once. */
export class RedisStore implements LockStore {
  readonly #redis: Redis & Scripts;
  #ended = false;

  constructor(url: string) {
    this.#redis = new Redis(url, {
      enableAutoPipelining: true,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: PATIENCE_MS,
      commandTimeout: PATIENCE_MS,
      retryStrategy: (times: number) => Math.min(50 * 2 ** Math.min(times, 6), 2000),
      connectionName: 'countersign-locks',
      scripts: {
        takeLocks: { lua: script('take') },
        renewLocks: { lua: script('renew') },
        releaseLocks: { lua: script('release') },
      },
    }) as Redis & Scripts;
    this.#redis.on('error', () => undefined); // the next command reports it
  }

  async take({ resources, owner, ttlMs, queue }: TakeRequest): Promise<boolean> {
    await this.#connected();
    const keys = resources.flatMap(triple);
    return (await this.#redis.takeLocks(keys.length, ...keys, owner, ttlMs, queue ? '1' : '0', PLACE_MS)) === 1;
  }

  async renew(resources: readonly string[], owner: string, ttlMs: number): Promise<boolean> {
    const keys = resources.map((resource) => triple(resource)[0]!);
    return (await this.#redis.renewLocks(keys.length, ...keys, owner, ttlMs)) === 1;
  }

  async free(resources: readonly string[], owner: string): Promise<void> {
    const keys = resources.flatMap(triple);
    await this.#redis.releaseLocks(keys.length, ...keys, owner);
  }

  /** Only the first connection is waited for, and briefly: later on, away means away. */
  async #connected(): Promise<void> {
    if (this.#redis.status === 'ready') return;
    if (!this.#ended && (this.#redis.status === 'connecting' || this.#redis.status === 'connect')) {
      await once(this.#redis, 'ready', { signal: AbortSignal.timeout(PATIENCE_MS) }).catch(() => undefined);
      if ((this.#redis.status as string) === 'ready') return;
    }
    throw new InfrastructureError('Redis cannot be reached');
  }

  close(): Promise<void> {
    this.#ended = true;
    this.#redis.disconnect();
    return Promise.resolve();
  }
}
