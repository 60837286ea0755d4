import type { OutgoingMessage } from '#contracts';
import type { Sql } from '../database.ts';

/** Bytes of values in one row; a message alone may have more. */
const ROW_BYTES = 1_000_000;

/** Appends messages in the caller's transaction, one row for as many as fit; answers the row ids. */
export async function appendOutgoing(sql: Sql, messages: readonly OutgoingMessage[]): Promise<number[]> {
  return Promise.all(inRows(messages).map((row) => appendRow(sql, row)));
}

async function appendRow(sql: Sql, messages: readonly OutgoingMessage[]): Promise<number> {
  const withHeaders = messages.some((message) => message.headers !== undefined);
  const rows = await sql.query<{ id: number }>({
    name: 'append-outgoing',
    text: `insert into outgoing (topics, keys, partition_keys, lengths, body, headers) values ($1, $2, $3, $4, $5, $6) returning id`,
    values: [
      messages.map((message) => message.topic),
      messages.map((message) => message.key),
      messages.map((message) => message.partitionKey ?? ''),
      messages.map((message) => message.value.length),
      Buffer.concat(messages.map((message) => message.value)),
      withHeaders ? JSON.stringify(messages.map((message) => message.headers ?? null)) : null,
    ],
  });
  return rows[0]!.id;
}

function inRows(messages: readonly OutgoingMessage[]): OutgoingMessage[][] {
  const rows: OutgoingMessage[][] = [];
  let bytes = Infinity;
  for (const message of messages) {
    if (bytes + message.value.length > ROW_BYTES) {
      rows.push([]);
      bytes = 0;
    }
    rows.at(-1)!.push(message);
    bytes += message.value.length;
  }
  return rows;
}
