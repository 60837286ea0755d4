import type { Checkpoint } from '#audit';
import type { Sql } from '#persistence';

/** By growing size. */
export async function readCheckpoints(sql: Sql, ledger: string, after: number, limit: number): Promise<Checkpoint[]> {
  const rows = await sql.query<Omit<Checkpoint, 'time'> & { signed_at: Date }>({
    name: 'read-checkpoints',
    text: `select ledger, size, head, kid, signed_at, jws from checkpoint
            where ledger = $1 and size > $2 order by size limit $3`,
    values: [ledger, after, limit],
  });
  return rows.map(({ signed_at: signedAt, ...row }) => ({ ...row, time: signedAt.toISOString() }));
}
