import type { Sql } from '#persistence';
import type { TurnKey } from './insert-turns.query.ts';

export interface ClaimedTurn extends TurnKey {
  readonly request: Buffer;
  readonly epoch: number;
}

/** Takes open turns without a living lease, the longest waiting first, each under a new epoch. */
export function claimTurns(sql: Sql, owner: string, leaseMs: number, limit: number): Promise<ClaimedTurn[]> {
  return sql.query<ClaimedTurn>({
    name: 'claim-turns',
    text: `with due as (
             select run_id, turn from turn
              where state = 'pending' and lease_until <= now()
              order by lease_until limit $3 for update skip locked
           )
           update turn t
              set lease_owner = $1, lease_until = now() + $2 * interval '1 millisecond', epoch = t.epoch + 1
             from due where t.run_id = due.run_id and t.turn = due.turn
           returning t.run_id as "runId", t.turn, t.request, t.epoch`,
    values: [owner, leaseMs, limit],
  });
}
