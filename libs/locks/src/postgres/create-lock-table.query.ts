import type { Database } from '#persistence';

/**
 * Unlogged: taking a lock writes no log and waits for no disk, and a crash of the server frees every lock,
 * which costs time, never correctness (G6).
 */
export async function createLockTable(database: Database): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query({
      text: `select pg_advisory_xact_lock(hashtextextended('countersign-locks/' || $1, 0))`,
      values: [database.schema],
    });
    await tx.query({ text: `create schema if not exists ${database.schema}` });
    await tx.query({
      text: `create unlogged table if not exists resource_lock (
               resource text collate "C" primary key,
               owner text not null,
               until timestamptz not null
             ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500)`,
    });
  });
}
