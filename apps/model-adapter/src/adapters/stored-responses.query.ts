import type { Sql } from '#persistence';
import type { TurnKey } from './insert-turns.query.ts';

export interface StoredResponse extends TurnKey {
  readonly response: Buffer;
}

/** Answers of those of the turns that are finished. */
export function storedResponses(sql: Sql, keys: readonly TurnKey[]): Promise<StoredResponse[]> {
  return sql.query<StoredResponse>({
    name: 'stored-responses',
    text: `select run_id as "runId", turn, response
             from turn join unnest($1::text[], $2::int[]) as wanted (run_id, turn) using (run_id, turn)
            where state <> 'pending'
            order by run_id, turn`,
    values: [keys.map((k) => k.runId), keys.map((k) => k.turn)],
  });
}
