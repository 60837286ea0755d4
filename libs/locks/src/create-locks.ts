import type { Database } from '#persistence';
import type { LockPort } from './lock.port.ts';
import { PostgresStore } from './postgres/postgres-store.ts';
import { RedisStore } from './redis/redis-store.ts';
import { WaitingRoom } from './waiting-room.ts';

export type LockOptions =
  | { readonly kind: 'redis'; readonly url: string }
  /** A database (with a schema of its own for locks) that the caller closes. */
  | { readonly kind: 'postgres'; readonly database: Database };

/**
 * Opens the waiting room. Redis need not be there yet: until it is, acquires answer `unavailable`.
 * @throws InfrastructureError when the PostgreSQL of the embedded mode is away
 */
export async function createLocks(options: LockOptions): Promise<LockPort> {
  return new WaitingRoom(
    options.kind === 'redis' ? new RedisStore(options.url) : await PostgresStore.open(options.database),
  );
}
