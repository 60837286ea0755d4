import type { Sql } from '#persistence';
import type { PreparedCall } from '../domain/prepared-call.ts';

export interface IntentRequest {
  readonly call: PreparedCall;
  /** `queue` only admits the call: its owner waits for a lock. */
  readonly action: 'intend' | 'queue';
  /** 0 = a grant from the bus; else the lease epoch of the queued row. */
  readonly epoch: number;
}

export type IntentAnswerKind =
  | 'intended'
  | 'queued'
  | 'wait'
  | 'replay'
  | 'join'
  | 'conflict'
  | 'stored'
  | 'running'
  | 'expired'
  | 'epoch'
  | 'spent'
  | 'lost';

export interface IntentAnswer {
  readonly kind: IntentAnswerKind;
  readonly epoch: number;
  readonly fences: Readonly<Record<string, number>> | null;
  /** Of this call (`stored`) or of the key's earlier call (`replay`). */
  readonly settlement: string | null;
}

interface IntentRow {
  call_id: string;
  answer: IntentAnswerKind;
  lease_epoch: number | null;
  fences: Record<string, number> | null;
  settlement: string | null;
}

/** One statement, one commit. Answers in the order of the requests; each callId at most once. */
export async function intendCalls(
  sql: Sql,
  owner: string,
  requests: readonly IntentRequest[],
): Promise<IntentAnswer[]> {
  const rows = await sql.query<IntentRow>({
    name: 'journal-intend',
    text: 'select call_id, answer, lease_epoch, fences, settlement from journal_intend($1::json, $2)',
    values: [JSON.stringify(requests.map(input)), owner],
  });
  const byCall = new Map(rows.map((row) => [row.call_id, row]));
  return requests.map(({ call }) => {
    const row = byCall.get(call.callId);
    if (!row) throw new Error(`the journal gave no answer for ${call.callId}`);
    return { kind: row.answer, epoch: row.lease_epoch ?? 0, fences: row.fences, settlement: row.settlement };
  });
}

function input({ call, action, epoch }: IntentRequest): Record<string, unknown> {
  const { claims, contract } = call;
  return {
    call_id: call.callId,
    tenant: claims.tenant,
    pool: claims.aud,
    action,
    epoch,
    decision_no: claims.decisionNo,
    grant_digest: call.grantDigest,
    jti: claims.jti,
    expires_at: claims.exp,
    journal_epoch: claims.journalEpoch,
    approval_id: claims.approvalId ?? null,
    tool: call.tool,
    class: claims.effectClass,
    key_hash: call.keyHash,
    args_digest: claims.argsDigest,
    repeat: contract.idempotency.mode,
    holds: call.holds,
    lease_ms: call.leaseMs,
    message: epoch === 0 ? JSON.stringify(call.granted) : null,
  };
}
