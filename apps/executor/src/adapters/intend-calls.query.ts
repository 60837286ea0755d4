import type { Sql } from '#persistence';
import { repeatOf, type PreparedCall } from '../domain/prepared-call.ts';
import { packed } from './packed-bytes.ts';

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
  | 'cancelled'
  | 'running'
  | 'expired'
  | 'epoch'
  | 'restored'
  | 'spent'
  | 'lost';

export interface IntentAnswer {
  readonly kind: IntentAnswerKind;
  readonly epoch: number;
  readonly fences: Readonly<Record<string, number>> | null;
  /** Of this call (`stored`) or of the key's earlier call (`replay`). */
  readonly settlement: string | null;
  /** `intended`: how often its key was taken back before; null = never acted before. */
  readonly takenBack: number | null;
}

/** What an intent got beside the right to act. */
export type Taken = Pick<IntentAnswer, 'fences' | 'takenBack'>;

interface IntentRow {
  /** Null: all are intended. */
  call_id: string | null;
  answer: IntentAnswerKind;
  lease_epoch: number | null;
  fences: unknown;
  settlement: string | null;
  taken_back: number | null;
}
type Fences = IntentAnswer['fences'];

/** One statement, one commit. Answers in the order of the requests; each callId at most once. */
export async function intendCalls(
  sql: Sql,
  owner: string,
  requests: readonly IntentRequest[],
): Promise<IntentAnswer[]> {
  const rows = await sql.query<IntentRow>({
    name: 'journal-intend',
    text: `select call_id, answer, lease_epoch, fences, settlement, taken_back
             from journal_intend($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)`,
    values: [owner, ...input([...requests].sort(byCallId))],
  });
  const first = rows[0];
  if (first?.call_id === null) {
    const fences = fencesOf(first.fences as [callId: string, resource: string, fence: number][] | null);
    return requests.map(({ call }) => ({
      kind: first.answer,
      epoch: first.lease_epoch!,
      fences: fences.get(call.callId) ?? null,
      settlement: null,
      takenBack: null,
    }));
  }
  const byCall = new Map(rows.map((row) => [row.call_id, row]));
  return requests.map(({ call }) => {
    const row = byCall.get(call.callId);
    if (!row) throw new Error(`the journal gave no answer for ${call.callId}`);
    return {
      kind: row.answer,
      epoch: row.lease_epoch ?? 0,
      fences: row.fences as Fences,
      settlement: row.settlement,
      takenBack: row.taken_back,
    };
  });
}

const byCallId = (a: IntentRequest, b: IntentRequest): number => (a.call.callId < b.call.callId ? -1 : 1);

function fencesOf(taken: readonly [string, string, number][] | null): Map<string, Record<string, number>> {
  const fences = new Map<string, Record<string, number>>();
  for (const [callId, resource, fence] of taken ?? []) {
    const known = fences.get(callId);
    if (known) known[resource] = fence;
    else fences.set(callId, { [resource]: fence });
  }
  return fences;
}

function input(requests: readonly IntentRequest[]): unknown[] {
  const calls = requests.map(({ call }) => call);
  const claims = calls.map((call) => call.claims);
  const messages = packed(
    requests.map(({ call, epoch }) => (epoch === 0 ? Buffer.from(JSON.stringify(call.granted)) : NONE)),
  );
  return [
    claims[0]!.aud,
    calls.map((call) => call.callId),
    claims.map((c) => c.tenant),
    requests.map((request) => request.action),
    requests.map((request) => request.epoch),
    claims.map((c) => c.decisionNo),
    calls.map((call) => call.grantDigest),
    claims.map((c) => c.jti),
    claims.map((c) => c.exp),
    claims.map((c) => c.journalEpoch),
    claims.map((c) => c.approvalId ?? null),
    calls.map((call) => call.tool),
    claims.map((c) => c.effectClass),
    calls.map((call) => call.keyHash),
    claims.map((c) => c.argsDigest),
    calls.map((call) => repeatOf(call.contract)),
    calls.map((call) => arrayLiteral(call.holds)),
    calls.map((call) => call.leaseMs),
    messages.starts,
    messages.lengths,
    messages.bytes,
  ];
}

const NONE = Buffer.alloc(0);
const arrayLiteral = (items: readonly string[]): string =>
  `{${items.map((item) => `"${item.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
