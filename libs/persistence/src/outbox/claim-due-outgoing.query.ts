import type { OutgoingMessage } from '#contracts';
import type { Sql } from '../database.ts';

export interface DueOutgoing {
  readonly id: number;
  readonly message: OutgoingMessage;
}

interface ClaimedRow {
  id: number;
  topic: string;
  key: string;
  partition_key: string | null;
  value: Buffer;
  headers: Record<string, string> | null;
}

/** Claims rows whose time has come (or all), oldest first, pushing their next time back with the attempts (10 s … 60 s). */
export async function claimDueOutgoing(sql: Sql, limit: number, all: boolean): Promise<DueOutgoing[]> {
  const rows = await sql.query<ClaimedRow>({
    name: all ? 'claim-all-outgoing' : 'claim-due-outgoing',
    text: `with due as (
             select id from outgoing ${all ? '' : 'where next_at <= now()'} order by id limit $1 for update skip locked
           )
           update outgoing o
              set attempts = attempts + 1,
                  next_at = now() + least(interval '60 seconds', interval '10 seconds' * power(2, attempts))
             from due where o.id = due.id
           returning o.id, o.topic, o.key, o.partition_key, o.value, o.headers`,
    values: [limit],
  });
  return rows
    .sort((a, b) => a.id - b.id)
    .map((row) => ({
      id: row.id,
      message: {
        topic: row.topic,
        key: row.key,
        value: row.value,
        ...(row.partition_key === null ? {} : { partitionKey: row.partition_key }),
        ...(row.headers === null ? {} : { headers: row.headers }),
      },
    }));
}
