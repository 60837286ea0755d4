import type { OutgoingMessage } from '#contracts';
import type { Sql } from '../database.ts';

export interface DueOutgoing {
  readonly id: number;
  readonly messages: readonly OutgoingMessage[];
}

interface ClaimedRow {
  readonly id: number;
  readonly topics: readonly string[];
  readonly keys: readonly string[];
  readonly partition_keys: readonly string[];
  readonly lengths: readonly number[];
  readonly body: Buffer;
  readonly headers: readonly (Record<string, string> | null)[] | null;
}

/** Rows that are looked at from the oldest on; what waits behind them has its turn when they are gone or pushed back. */
const LOOK = 10_000;

/** Claims rows whose time has come (or all), oldest first, pushing their next time back with the attempts (10 s … 60 s). */
export async function claimDueOutgoing(sql: Sql, limit: number, all: boolean): Promise<DueOutgoing[]> {
  const rows = await sql.query<ClaimedRow>({
    name: all ? 'claim-all-outgoing' : 'claim-due-outgoing',
    text: `with due as (
             select o.id from (select id from outgoing order by id limit ${LOOK}) oldest join outgoing o using (id)
              where ${all ? 'true' : 'o.next_at <= now()'} order by o.id limit $1 for update of o skip locked
           )
           update outgoing o
              set attempts = attempts + 1,
                  next_at = now() + least(interval '60 seconds', interval '10 seconds' * power(2, attempts))
             from due where o.id = due.id
           returning o.id, o.topics, o.keys, o.partition_keys, o.lengths, o.body, o.headers`,
    values: [limit],
  });
  return rows.sort((a, b) => a.id - b.id).map((row) => ({ id: row.id, messages: messagesOf(row) }));
}

function messagesOf(row: ClaimedRow): OutgoingMessage[] {
  let end = 0;
  return row.topics.map((topic, i) => {
    const start = end;
    end += row.lengths[i]!;
    const partitionKey = row.partition_keys[i]!;
    const headers = row.headers?.[i];
    return {
      topic,
      key: row.keys[i]!,
      value: row.body.subarray(start, end),
      ...(partitionKey === '' ? {} : { partitionKey }),
      ...(headers ? { headers } : {}),
    };
  });
}
