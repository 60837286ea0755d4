import type { View } from './views.ts';

/** One thing that happened to a call; fields that say nothing are left out. */
export interface HistoryEntry extends View {
  /** RFC 3339. */
  readonly at: string;
  readonly what: HistoryWord;
}

/** As the audit keeps it: the CloudEvent of a record. */
interface AuditRecord {
  readonly type: string;
  readonly time: string;
  /** A call, or a run. */
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Records of the call itself. What happens in the same millisecond is told in the order of this list. */
const OWN = {
  'approval.requested': 'asked',
  'approval.counted': 'approval_counted',
  'approval.decided': 'approval_decided',
  'approval.edited': 'approval_edited',
  'approval.superseded': 'approval_superseded',
  'approval.withdrawn': 'approval_withdrawn',
  'approval.expired': 'approval_expired',
  'approval.refused': 'approval_refused',
  'call.decided': 'allowed',
  'grant.returned': 'grant_returned',
  'grant.refused': 'grant_refused',
  'call.settled': 'settled',
  'call.cancellation': 'cancelled',
  'call.reconciled': 'reconciled',
  'resolution.refused': 'resolution_refused',
} as const;

/** Records of its run, and of the calls that take it back. */
const ON_THE_WAY_BACK = {
  'compensation.asked': 'way_back_asked',
  'compensation.started': 'way_back_began',
  'call.settled': 'undo_settled',
  'call.reconciled': 'undo_reconciled',
  'compensation.ended': 'way_back_ended',
} as const;

export const HISTORY_WORDS = ['proposed', ...Object.values(OWN), ...Object.values(ON_THE_WAY_BACK)] as const;
export type HistoryWord = (typeof HISTORY_WORDS)[number];

/** What is shown of a record: numbers, codes, words and digests of policies; nothing that a person or a tool wrote. */
const SHOWN = {
  decision_no: 'decisionNo',
  policy_digest: 'policyDigest',
  reasons: 'reasons',
  approval_id: 'approvalId',
  answer: 'answer',
  approver: 'by',
  editor: 'by',
  approvals: 'approvals',
  quorum: 'quorum',
  expires_at: 'expiresAt',
  why: 'why',
  replaced_by: 'replacedBy',
  status: 'status',
  effect: 'effect',
  error_code: 'errorCode',
  settled_by: 'settledBy',
  replayed: 'replayed',
  attempts: 'attempts',
  duration_ms: 'durationMs',
  cancellation: 'cancellation',
  cancellation_evidence: 'cancellationEvidence',
  amendment: 'amendment',
  reconciled_by: 'reconciledBy',
  proposed: 'proposed',
  pool: 'pool',
  round: 'round',
} as const;

/** Records whose `principal` is the person who acted; elsewhere it is who asked for the call. */
const BY_PRINCIPAL: ReadonlySet<HistoryWord> = new Set(['approval_withdrawn', 'reconciled', 'way_back_began']);

/** The life of one call, in order. @param records of its run that name it; others are left out */
export function callHistory(call: View, records: readonly View[]): HistoryEntry[] {
  const callId = String(call.callId);
  const told = (records as unknown as readonly AuditRecord[]).flatMap((record) => entryOf(callId, record) ?? []);
  const first = typeof call.firstSeen === 'string' ? [{ at: call.firstSeen, what: 'proposed' as const }] : [];
  return [...first, ...told].sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || rank(a) - rank(b));
}

const rank = ({ what }: HistoryEntry): number => HISTORY_WORDS.indexOf(what);

function entryOf(callId: string, { type, time, subject, data }: AuditRecord): HistoryEntry | null {
  const name = type.replace(/^dev\.countersign\./, '').replace(/\.v\d+$/, '');
  if (subject === callId) {
    const what = OWN[name as keyof typeof OWN];
    return what === undefined ? null : { at: time, what, ...shown(what, data) };
  }
  const what = ON_THE_WAY_BACK[name as keyof typeof ON_THE_WAY_BACK];
  if (what === undefined) return null;
  if (subject.startsWith('call_'))
    return data.undoes === callId ? { at: time, what, undo: subject, ...shown(what, data) } : null;
  const outcome = outcomeIn(callId, data);
  if (outcome === null) return null;
  // The status of the whole way back, not of this call.
  const { status: _status, ...rest } = shown(what, data);
  return { at: time, what, outcome, ...rest };
}

/** What a record of the run's way back says of this call. */
function outcomeIn(callId: string, data: AuditRecord['data']): string | null {
  const list = (name: string): readonly string[] => (Array.isArray(data[name]) ? (data[name] as string[]) : []);
  for (const name of ['leftovers', 'remainder']) {
    const said = list(name).find((one) => one.startsWith(`${callId}:`));
    if (said !== undefined) return said.slice(callId.length + 1);
  }
  if (list('compensation_calls').includes(callId)) return 'to_be_undone';
  return ['undone', 'skipped', 'kept'].find((name) => list(name).includes(callId)) ?? null;
}

function shown(what: HistoryWord, data: AuditRecord['data']): View {
  const out: Record<string, unknown> = {};
  for (const [from, to] of Object.entries(SHOWN)) {
    const value = data[from];
    if (value === null || value === undefined || value === false || (Array.isArray(value) && value.length === 0))
      continue;
    out[to] = value;
  }
  if (BY_PRINCIPAL.has(what) && typeof data.principal === 'string') out.by = data.principal;
  return out;
}
