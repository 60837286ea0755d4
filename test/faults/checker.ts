import type { SinkItem } from './installation.ts';
import type { Operation } from './operation.ts';

export interface JournalRow {
  readonly callId: string;
  /** Of an unknown outcome: what was found out about it, where it was. */
  readonly state: string;
}

/** What is known when the load is over and quiet. */
export interface Evidence {
  readonly operations: readonly Operation[];
  readonly sink: Readonly<Record<string, SinkItem>>;
  readonly journal: ReadonlyMap<string, JournalRow>;
  /** Resources that a call holds which has ended with certainty. */
  readonly orphanHolds: readonly string[];
  /** Faults and open runs that the audit's verifier names. */
  readonly audit: readonly string[];
}

export interface Verdict {
  readonly calls: number;
  readonly lost: number;
  readonly doubled: number;
  readonly misreported: number;
  readonly stuck: number;
  readonly auditGaps: number;
  readonly unknown: number;
  readonly unknownExplained: number;
  /** One sentence for each fault. */
  readonly faults: readonly string[];
}

type Kind = 'lost' | 'doubled' | 'misreported' | 'stuck' | 'auditGaps';
const WRITES_NOTHING = new Set(['failed', 'denied', 'expired', 'cancelled', 'rejected']);

/**
 * Judges by what the sink counted, what the journal holds, what the audit proves and what callers were told.
 * - lost: acknowledged, and nobody knows it any more
 * - doubled: one operation took effect more than once, or was tried twice where a repeat is not harmless
 * - misreported: somebody was told what the sink or the journal does not bear out, or two different things
 * - stuck: acknowledged and not settled in time, or still holding something
 */
export function judge(evidence: Evidence): Verdict {
  const count: Record<Kind, number> = { lost: 0, doubled: 0, misreported: 0, stuck: 0, auditGaps: 0 };
  const faults: string[] = [];
  const fault = (kind: Kind, sentence: string): void => {
    count[kind]++;
    faults.push(`${kind}: ${sentence}`);
  };
  let unknown = 0;
  let explained = 0;
  let calls = 0;
  for (const operation of evidence.operations) {
    const { callId, runId, kind, told, items } = operation;
    calls += items.length;
    const name = callId ?? runId ?? items[0]!.item;
    for (const { item, toolClass } of items) {
      const { applied = 0, attempts = 0 } = evidence.sink[item] ?? {};
      if (applied > 1) fault('doubled', `${name}: ${item} took effect ${applied} times`);
      if (toolClass === 'none' && attempts > 1) fault('doubled', `${name}: ${item} was sent ${attempts} times`);
    }
    for (const refusal of operation.refusals) fault('misreported', `${name} was refused: ${refusal}`);
    if (runId === undefined) continue; // never acknowledged
    const last = told.at(-1);
    if (!last) {
      fault('stuck', `${name} (${operation.toolClass}) was not settled`);
      continue;
    }
    // An unknown outcome may be made certain later; what was certain stays.
    const certain = told.filter(({ status }) => status !== 'outcome_unknown');
    if (
      new Set(certain.map(({ status }) => status)).size > 1 ||
      (certain.length > 0 && last.status === 'outcome_unknown')
    )
      fault('misreported', `${name} was told as ${told.map(({ status }) => status).join(', then ')}`);
    if (kind === 'run') continue;
    const row = evidence.journal.get(callId!);
    const { applied = 0 } = evidence.sink[items[0]!.item] ?? {};
    const write = operation.toolClass !== 'read';
    if (last.status === 'succeeded' && write && applied === 0)
      fault('misreported', `${name} succeeded, and the sink has not seen it`);
    if (last.status === 'succeeded' && write && row?.state !== 'succeeded')
      fault('misreported', `${name} was told as succeeded, the journal holds ${row?.state ?? 'nothing'}`);
    if (WRITES_NOTHING.has(last.status) && write && applied > 0)
      fault('misreported', `${name} was told as ${last.status} (${last.code}), and the sink has seen it`);
    if (last.status === 'outcome_unknown') {
      unknown++;
      // Only where nobody can tell: no key, no natural repeat.
      if (operation.toolClass === 'none') explained++;
      else faults.push(`unexplained: ${name} (${operation.toolClass}) ended as unknown`);
    }
  }
  for (const { callId, state } of evidence.journal.values())
    if (state === 'queued' || state === 'intended') fault('stuck', `${callId} stands in the journal as ${state}`);
  for (const resource of evidence.orphanHolds) fault('stuck', `${resource} is held by a call that has ended`);
  for (const gap of evidence.audit) fault('auditGaps', gap);
  return { calls, ...count, unknown, unknownExplained: explained, faults };
}

export const isClean = (verdict: Verdict): boolean =>
  verdict.faults.length === 0 && verdict.unknown === verdict.unknownExplained;
