import type { Checkpoint } from '#audit';
import type { Sql } from '#persistence';

/** @returns those that are new: another replica may have signed the same head */
export async function insertCheckpoints(sql: Sql, checkpoints: readonly Checkpoint[]): Promise<Checkpoint[]> {
  const rows = await sql.query<{ jws: string }>({
    name: 'insert-checkpoints',
    text: `insert into checkpoint (ledger, size, head, kid, signed_at, jws)
           select * from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::timestamptz[], $6::text[])
           on conflict (ledger, size) do nothing returning jws`,
    values: [
      checkpoints.map((checkpoint) => checkpoint.ledger),
      checkpoints.map((checkpoint) => checkpoint.size),
      checkpoints.map((checkpoint) => checkpoint.head),
      checkpoints.map((checkpoint) => checkpoint.kid),
      checkpoints.map((checkpoint) => checkpoint.time),
      checkpoints.map((checkpoint) => checkpoint.jws),
    ],
  });
  const inserted = new Set(rows.map((row) => row.jws));
  return checkpoints.filter((checkpoint) => inserted.has(checkpoint.jws));
}
