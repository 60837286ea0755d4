import type { Tx } from '#persistence';
import type { HeldTurn } from './hold-turns.query.ts';

export interface FinishedTurn extends HeldTurn {
  readonly state: 'completed' | 'failed';
  readonly response: Buffer;
  /** JSON text of the tools that the model was shown. */
  readonly offered: string | null;
}

/** False: the turn is finished already or has a new owner; nothing was changed. */
export async function finishTurn(tx: Tx, turn: FinishedTurn): Promise<boolean> {
  const changed = await tx.change({
    name: 'finish-turn',
    text: `update turn set state = $4, response = $5, offered = $6, lease_owner = null, finished_at = now()
            where run_id = $1 and turn = $2 and epoch = $3 and state = 'pending'`,
    values: [turn.runId, turn.turn, turn.epoch, turn.state, turn.response, turn.offered],
  });
  return changed === 1;
}
