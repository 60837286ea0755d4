import type { Sql } from '#persistence';

export interface TurnKey {
  readonly runId: string;
  readonly turn: number;
}
export interface NewTurn extends TurnKey {
  readonly tenant: string;
  readonly request: Buffer;
}

/** The first commit of a (run, turn) wins; known ones are left as they are. Number of new ones. */
export function insertTurns(sql: Sql, turns: readonly NewTurn[]): Promise<number> {
  return sql.change({
    name: 'insert-turns',
    text: `insert into turn (run_id, turn, tenant, request)
           select * from unnest($1::text[], $2::int[], $3::text[], $4::bytea[])
           on conflict (run_id, turn) do nothing`,
    values: [
      turns.map((t) => t.runId),
      turns.map((t) => t.turn),
      turns.map((t) => t.tenant),
      turns.map((t) => t.request),
    ],
  });
}
