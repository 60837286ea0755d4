import type { OutgoingMessage } from '#contracts';
import type { Sql } from '#persistence';
import type { GrantedCall } from '../domain/prepared-call.ts';
import type { Ending } from '../domain/settlement.ts';

export interface Outcome {
  readonly call: GrantedCall;
  /** The lease epoch under which the call is held; 0 = a read that had no intent. */
  readonly epoch: number;
  readonly ending: Ending;
  readonly settlement: OutgoingMessage;
  /** False where this call only answers what another call's operation holds, or never got that far. */
  readonly ownsOperation: boolean;
}

export interface Settled {
  /** Null: this call's outcome was recorded before; `settlement` is the record. */
  readonly outgoingId: number | null;
  readonly settlement: string | null;
}

/** One statement, one commit. Null for a call that is no longer this owner's. Each callId at most once. */
export async function settleCalls(sql: Sql, owner: string, outcomes: readonly Outcome[]): Promise<(Settled | null)[]> {
  const rows = await sql.query<{ call_id: string; outgoing_id: number | null; settlement: string | null }>({
    name: 'journal-settle',
    text: 'select call_id, outgoing_id, settlement from journal_settle($1::json, $2)',
    values: [JSON.stringify(outcomes.map(input)), owner],
  });
  const byCall = new Map(rows.map((row) => [row.call_id, { outgoingId: row.outgoing_id, settlement: row.settlement }]));
  return outcomes.map(({ call }) => byCall.get(call.callId) ?? null);
}

const OPERATION = { succeeded: 'succeeded', failed: 'closed', outcome_unknown: 'unknown' } as const;

function input({ call, epoch, ending, settlement, ownsOperation }: Outcome): Record<string, unknown> {
  const { claims } = call;
  return {
    call_id: call.callId,
    tenant: claims.tenant,
    pool: claims.aud,
    epoch,
    state: ending.status,
    operation: ownsOperation ? OPERATION[ending.status] : null,
    keep_holds: ownsOperation && ending.status === 'outcome_unknown',
    decision_no: claims.decisionNo,
    grant_digest: call.grantDigest,
    tool: call.tool,
    class: claims.effectClass,
    key_hash: call.keyHash,
    args_digest: claims.argsDigest,
    topic: settlement.topic,
    partition_key: settlement.partitionKey ?? null,
    settlement: settlement.value.toString('utf8'),
  };
}
