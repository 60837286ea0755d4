import type { Sql } from '#persistence';
import type { TurnKey } from './insert-turns.query.ts';

export interface HeldTurn extends TurnKey {
  readonly epoch: number;
}

/** Renews the leases that are still ours; those that are missing in the answer are not. */
export function renewTurns(sql: Sql, turns: readonly HeldTurn[], leaseMs: number): Promise<TurnKey[]> {
  return sql.query<TurnKey>({
    name: 'renew-turns',
    text: `update turn t set lease_until = now() + $4 * interval '1 millisecond'
             from unnest($1::text[], $2::int[], $3::int[]) as held (run_id, turn, epoch)
            where t.run_id = held.run_id and t.turn = held.turn and t.epoch = held.epoch and t.state = 'pending'
           returning t.run_id as "runId", t.turn`,
    values: [...columns(turns), leaseMs],
  });
}

/** Gives turns back, to be taken up again after `afterMs`. */
export function releaseTurns(sql: Sql, turns: readonly HeldTurn[], afterMs: number): Promise<number> {
  return sql.change({
    name: 'release-turns',
    text: `update turn t set lease_owner = null, lease_until = now() + $4 * interval '1 millisecond'
             from unnest($1::text[], $2::int[], $3::int[]) as held (run_id, turn, epoch)
            where t.run_id = held.run_id and t.turn = held.turn and t.epoch = held.epoch and t.state = 'pending'`,
    values: [...columns(turns), afterMs],
  });
}

const columns = (turns: readonly HeldTurn[]): unknown[] => [
  turns.map((t) => t.runId),
  turns.map((t) => t.turn),
  turns.map((t) => t.epoch),
];
