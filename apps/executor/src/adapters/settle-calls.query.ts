import type { OutgoingMessage } from '#contracts';
import type { Sql } from '#persistence';
import type { GrantedCall, PreparedCall } from '../domain/prepared-call.ts';
import type { Ending } from '../domain/settlement.ts';
import { packed } from './packed-bytes.ts';

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
  /** Null: this call's outcome is recorded now. Else it was recorded before, and this is the record. */
  readonly recorded: string | null;
}

export interface Settlement {
  /** In the order of the outcomes; null for a call that is no longer this owner's. */
  readonly answers: readonly (Settled | null)[];
  /** The row with the messages of all outcomes that are recorded now; null = there is none. */
  readonly outgoingId: number | null;
}

interface SettledRow {
  readonly outgoing_id: number | null;
  /** Null: all. */
  readonly changed: readonly string[] | null;
  readonly recorded: Readonly<Record<string, string>> | null;
}

const SETTLE = `select outgoing_id, changed, recorded
             from journal_settle($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`;

/** With undos that succeeded: each closes the generation of the operation that it took back (G7), in its own commit. */
const SETTLE_UNDOS = `select outgoing_id, changed, recorded
             from journal_settle_undos($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
                                       $20, $21, $22)`;

/** One statement, one commit. Each callId at most once. */
export async function settleCalls(sql: Sql, owner: string, outcomes: readonly Outcome[]): Promise<Settlement> {
  const values = [owner, ...input([...outcomes].sort(byCallId))];
  const undos = outcomes.filter(({ call, ending }) => call.claims.undoes && ending.status === 'succeeded');
  const [row] = await sql.query<SettledRow>(
    undos.length === 0
      ? { name: 'journal-settle', text: SETTLE, values }
      : { name: 'journal-settle-undos', text: SETTLE_UNDOS, values: [...values, ...undoColumns(undos)] },
  );
  const { outgoing_id: outgoingId, changed, recorded } = row!;
  const now = changed === null ? null : new Set(changed);
  const answers = outcomes.map(({ call: { callId } }): Settled | null => {
    if (now === null || now.has(callId)) return { recorded: null };
    const before = recorded?.[callId];
    return before === undefined ? null : { recorded: before };
  });
  return { answers, outgoingId };
}

const undoColumns = (undos: readonly Outcome[]): string[][] => [
  undos.map(({ call }) => call.claims.tenant),
  undos.map(({ call }) => call.callId),
  undos.map(({ call }) => call.claims.undoes!),
];

const OPERATION = {
  succeeded: 'succeeded',
  failed: 'closed',
  outcome_unknown: 'unknown',
  cancelled: 'closed',
} as const;
const byCallId = (a: Outcome, b: Outcome): number => (a.call.callId < b.call.callId ? -1 : 1);

/** Where the contract is not at hand, holds are kept: that costs time, never an overlap. */
const keepsHolds = (call: GrantedCall | PreparedCall): boolean =>
  !('contract' in call) || call.contract.onUnknown?.holds !== 'continue';

function input(outcomes: readonly Outcome[]): unknown[] {
  const calls = outcomes.map(({ call }) => call);
  const claims = calls.map((call) => call.claims);
  const messages = outcomes.map(({ settlement }) => settlement);
  const values = packed(messages.map((m) => m.value));
  return [
    claims[0]!.aud,
    calls.map((call) => call.callId),
    outcomes.map((o) => o.epoch),
    outcomes.map((o) => o.ending.status),
    outcomes.map((o) => (o.ownsOperation ? OPERATION[o.ending.status] : null)),
    outcomes.map((o) => o.ownsOperation && o.ending.status === 'outcome_unknown' && keepsHolds(o.call)),
    claims.map((c) => c.tenant),
    claims.map((c) => c.decisionNo),
    calls.map((call) => call.grantDigest),
    calls.map((call) => call.tool),
    claims.map((c) => c.effectClass),
    calls.map((call) => call.keyHash),
    claims.map((c) => c.argsDigest),
    messages.map((m) => m.topic),
    messages.map((m) => m.partitionKey ?? ''),
    values.starts,
    values.lengths,
    values.bytes,
  ];
}
