import type { OutgoingMessage } from '#contracts';
import type { Sql } from '../database.ts';

/** Appends messages in the caller's transaction; answers their row ids, in order. */
export async function appendOutgoing(sql: Sql, messages: readonly OutgoingMessage[]): Promise<number[]> {
  if (messages.length === 0) return [];
  const rows = await sql.query<{ id: number }>({
    name: 'append-outgoing',
    text: `insert into outgoing (topic, key, partition_key, value, headers)
           select * from unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::jsonb[])
           returning id`,
    values: [
      messages.map((m) => m.topic),
      messages.map((m) => m.key),
      messages.map((m) => m.partitionKey ?? null),
      messages.map((m) => m.value),
      messages.map((m) => (m.headers ? JSON.stringify(m.headers) : null)),
    ],
  });
  return rows.map((row) => row.id);
}
