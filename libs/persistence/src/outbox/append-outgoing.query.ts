import type { OutgoingMessage } from '#contracts';
import type { Sql } from '../database.ts';

/**
 * Appends messages in the caller's transaction; answers their row ids, in order. The values travel as one run of bytes
 * that the database cuts: an array of bytes would be written out in hexadecimal and escaped.
 */
export async function appendOutgoing(sql: Sql, messages: readonly OutgoingMessage[]): Promise<number[]> {
  if (messages.length === 0) return [];
  let end = 1; // SQL counts from 1
  const starts = messages.map((message) => {
    const start = end;
    end += message.value.length;
    return start;
  });
  const rows = await sql.query<{ id: number }>({
    name: 'append-outgoing',
    text: `insert into outgoing (topic, key, partition_key, value, headers)
           select m.topic, m.key, m.partition_key, substring($4::bytea from m.start for m.length), m.headers
             from unnest($1::text[], $2::text[], $3::text[], $5::integer[], $6::integer[], $7::jsonb[])
                  as m (topic, key, partition_key, start, length, headers)
           returning id`,
    values: [
      messages.map((m) => m.topic),
      messages.map((m) => m.key),
      messages.map((m) => m.partitionKey ?? null),
      Buffer.concat(messages.map((m) => m.value)),
      starts,
      messages.map((m) => m.value.length),
      messages.map((m) => (m.headers ? JSON.stringify(m.headers) : null)),
    ],
  });
  return rows.map((row) => row.id);
}
