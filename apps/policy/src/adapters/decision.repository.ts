import { decodeMessage } from '#contracts';
import type { ErrorCode } from '#kernel';
import type { Sql, Tx } from '#persistence';
import type { Decision, DecisionState, Proposal } from '../domain/decision.ts';
import { editedCallId } from '../domain/edit.ts';
import { refusal, type Refusal } from '../domain/refusal.ts';
import { proposalOf } from './proposal-of.ts';

export interface NewDecision {
  readonly decision: Decision;
  /** The bytes of CallProposed, for number 1. */
  readonly proposalBytes: Buffer | null;
}

export interface StoredDecision {
  readonly decision: Decision;
  readonly proposal: Proposal;
  /** The grant ran out, by the database's clock. */
  readonly over: boolean;
}

interface Row {
  call_id: string;
  decision_no: number;
  tenant: string;
  run_id: string;
  state: 'granted' | 'asked' | 'denied' | 'edited' | 'expired' | 'cancelled' | 'superseded';
  policy_digest: string;
  reasons: string;
  decided_at: number;
  returns: number;
  grant_token: string | null;
  grant_expires: number | null;
  approval_id: string | null;
  approvers: string | null;
  refusal_code: ErrorCode | null;
  refusal_message: string | null;
  proposal: Buffer;
  over: boolean | null;
}

/** Columns of a state; the only place that knows both forms. */
function columnsOf(state: DecisionState) {
  const granted = state.kind === 'granted' ? state : null;
  const refused = state.kind === 'refused' ? state : null;
  return {
    state: refused ? (refused.replacedBy === undefined ? refused.status : 'edited') : state.kind,
    token: granted?.token ?? null,
    expiresAt: granted ? new Date(granted.expiresAt * 1000) : null,
    approvalId: granted ? (granted.approval?.approvalId ?? null) : (state as { approvalId: string | null }).approvalId,
    approvers: granted?.approval ? JSON.stringify(granted.approval.approvers) : null,
    code: refused?.code ?? null,
    message: refused?.message ?? null,
  };
}

function stateOf(row: Row): DecisionState {
  switch (row.state) {
    case 'granted': {
      const approval =
        row.approval_id !== null && row.approvers !== null
          ? { approvalId: row.approval_id, approvers: JSON.parse(row.approvers) as string[] }
          : null;
      return { kind: 'granted', token: row.grant_token!, expiresAt: row.grant_expires!, approval };
    }
    case 'asked':
    case 'superseded':
      return { kind: row.state, approvalId: row.approval_id! };
    case 'edited':
      return { ...refusedOf(row, 'denied'), replacedBy: editedCallId(row.run_id, row.approval_id!) };
    case 'denied':
    case 'expired':
    case 'cancelled':
      return refusedOf(row, row.state);
  }
}

const refusedOf = (row: Row, status: Refusal['status']): Refusal =>
  refusal(status, row.refusal_code!, row.refusal_message ?? '', row.approval_id);

/**
 * Inserts what is not there yet; the first commit of a (callId, decisionNo) wins (P1).
 * Give them sorted by callId: two replicas with the same calls then wait for each other in one direction only.
 * @returns the callIds whose row is ours
 */
export async function insertDecisions(tx: Tx, fresh: readonly NewDecision[]): Promise<Set<string>> {
  if (fresh.length === 0) return new Set();
  const rows = await tx.query<{ call_id: string }>({
    name: 'insert-decisions',
    text: `${INSERT} on conflict (call_id, decision_no) do nothing returning call_id`,
    values: columnsOfAll(fresh),
  });
  return new Set(rows.map((row) => row.call_id));
}

/** For those that nobody has decided yet, as nearly always. @throws a unique violation when one of them has a row */
export async function insertNewDecisions(tx: Tx, fresh: readonly NewDecision[]): Promise<void> {
  await tx.change({ name: 'insert-new-decisions', text: INSERT, values: columnsOfAll(fresh) });
}

const INSERT = `insert into decision (call_id, decision_no, tenant, run_id, state, policy_digest, reasons, decided_at, returns,
                  grant_token, grant_expires_at, approval_id, approvers, refusal_code, refusal_message, proposal)
  select * from unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::int[],
                       $10::text[], $11::timestamptz[], $12::text[], $13::text[], $14::text[], $15::text[], $16::bytea[])`;

function columnsOfAll(fresh: readonly NewDecision[]): unknown[] {
  const columns = fresh.map(({ decision }) => columnsOf(decision.state));
  return [
    fresh.map(({ decision }) => decision.callId),
    fresh.map(({ decision }) => decision.decisionNo),
    fresh.map(({ decision }) => decision.tenant),
    fresh.map(({ decision }) => decision.runId),
    columns.map((c) => c.state),
    fresh.map(({ decision }) => decision.policyDigest),
    fresh.map(({ decision }) => JSON.stringify(decision.reasons)),
    fresh.map(({ decision }) => decision.decidedAt),
    fresh.map(({ decision }) => decision.returns),
    columns.map((c) => c.token),
    columns.map((c) => c.expiresAt),
    columns.map((c) => c.approvalId),
    columns.map((c) => c.approvers),
    columns.map((c) => c.code),
    columns.map((c) => c.message),
    fresh.map(({ proposalBytes }) => proposalBytes),
  ];
}

/** The latest decision of each call, with its proposal. */
export async function latestDecisions(sql: Sql, callIds: readonly string[]): Promise<Map<string, StoredDecision>> {
  if (callIds.length === 0) return new Map();
  const rows = await sql.query<Row>({
    name: 'latest-decisions',
    text: `select d.*, extract(epoch from d.grant_expires_at)::float8 as grant_expires, d.grant_expires_at <= now() as over, first.proposal
             from unnest($1::text[]) as asked (call_id)
             cross join lateral (select call_id, decision_no, tenant, run_id, state, policy_digest, reasons, decided_at, returns,
                                        grant_token, grant_expires_at, approval_id, approvers, refusal_code, refusal_message
                                   from decision where decision.call_id = asked.call_id order by decision_no desc limit 1) d
             join decision first on first.call_id = d.call_id and first.decision_no = 1`,
    values: [[...new Set(callIds)].sort()],
  });
  return new Map(
    rows.map((row) => {
      const decision: Decision = {
        callId: row.call_id,
        decisionNo: row.decision_no,
        tenant: row.tenant,
        runId: row.run_id,
        state: stateOf(row),
        policyDigest: row.policy_digest,
        reasons: JSON.parse(row.reasons) as string[],
        decidedAt: row.decided_at,
        returns: row.returns,
      };
      return [row.call_id, { decision, proposal: proposalOf(decodeMessage(row.proposal)), over: row.over === true }];
    }),
  );
}

/** Ends waiting rows: `asked` → what the decision says now (P4). @returns the callIds that were still waiting */
export async function endAsked(tx: Tx, ended: readonly Decision[]): Promise<Set<string>> {
  if (ended.length === 0) return new Set();
  const columns = ended.map((decision) => columnsOf(decision.state));
  const rows = await tx.query<{ call_id: string }>({
    name: 'end-asked-decisions',
    text: `update decision d
              set state = e.state, grant_token = e.token, grant_expires_at = e.expires_at, approvers = e.approvers,
                  refusal_code = e.code, refusal_message = e.message, decided_at = e.decided_at
             from unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::timestamptz[], $6::text[], $7::text[], $8::text[], $9::bigint[])
                  as e (call_id, decision_no, state, token, expires_at, approvers, code, message, decided_at)
            where d.call_id = e.call_id and d.decision_no = e.decision_no and d.state = 'asked'
           returning d.call_id`,
    values: [
      ended.map((decision) => decision.callId),
      ended.map((decision) => decision.decisionNo),
      columns.map((c) => c.state),
      columns.map((c) => c.token),
      columns.map((c) => c.expiresAt),
      columns.map((c) => c.approvers),
      columns.map((c) => c.code),
      columns.map((c) => c.message),
      ended.map((decision) => decision.decidedAt),
    ],
  });
  return new Set(rows.map((row) => row.call_id));
}

/** A grant that the pool cannot accept is over at once; the next re-drive of its proposal judges again. */
export async function voidGrants(tx: Tx, voided: readonly Decision[]): Promise<void> {
  if (voided.length === 0) return;
  await tx.change({
    name: 'void-grants',
    text: `update decision d set grant_expires_at = least(d.grant_expires_at, now()), returns = v.returns + 1
             from unnest($1::text[], $2::int[], $3::int[]) as v (call_id, decision_no, returns)
            where d.call_id = v.call_id and d.decision_no = v.decision_no and d.state = 'granted' and d.returns = v.returns`,
    values: [voided.map((d) => d.callId), voided.map((d) => d.decisionNo), voided.map((d) => d.returns)],
  });
}
