import { readRecord, type AuditRecordText } from './audit-record.ts';
import type { AuditFault, AuditFaultKind } from './audit-report.ts';

/** How far a ledger was followed. Keep it where the records went, and give it to the next follower. */
export interface LedgerPosition {
  /** `<tenant>/<partition>`. */
  readonly ledger: string;
  /** Sequence of its last record that was taken. */
  readonly sequence: number;
  /** `sha256:<hex>` of that record. */
  readonly digest: string;
}

/** A record in its place. */
export interface FollowedRecord extends LedgerPosition {
  /** The CloudEvent, byte for byte. */
  readonly text: string;
}

export interface Followed {
  /** What is in its turn now, in the order of its ledger: none, one, or one and those that waited for it. */
  readonly records: readonly FollowedRecord[];
  readonly faults: readonly AuditFault[];
}

type Waiting = Pick<AuditRecordText, 'sequence' | 'digest' | 'previous'> & { readonly text: string };

/**
 * Follows the ledgers of a topic as they grow, across restarts: for consumers that cannot begin anew each time. Of a ledger
 * it knows the last record alone; what was signed, and whether runs are complete, is for `AuditVerifier` to tell.
 *
 * F1 records come out in the order of their sequences, each once: what was taken before is dropped;
 * F2 one that comes before its predecessors waits, at most `maxWaiting` of a ledger: then what is missing is a fault;
 * F3 each names the digest of the one before it, else that is a fault; it comes out all the same: an alarm hides nothing.
 */
export class LedgerFollower {
  readonly #maxWaiting: number;
  readonly #ledgers = new Map<string, { sequence: number; digest: string; waiting: Map<number, Waiting> }>();

  constructor(positions: readonly LedgerPosition[] = [], { maxWaiting = 10_000 } = {}) {
    this.#maxWaiting = maxWaiting;
    for (const { ledger, sequence, digest } of positions)
      this.#ledgers.set(ledger, { sequence, digest: digest.slice(7), waiting: new Map() });
  }

  /** Whether a record waits for one that has not come: offsets behind it must not be committed. */
  get waits(): boolean {
    return [...this.#ledgers.values()].some(({ waiting }) => waiting.size > 0);
  }

  /** The value of a record of the topic, as it came. Checkpoints have no place in a ledger: nothing comes of them. */
  add(text: string): Followed {
    const records: FollowedRecord[] = [];
    const faults: AuditFault[] = [];
    const read = readRecord(text);
    if (read.kind === 'unreadable')
      faults.push({ kind: 'unreadable', ledger: read.ledger, sequence: 0, detail: `no audit record: ${read.reason}` });
    if (read.kind !== 'record') return { records, faults };
    const { ledger, sequence, digest, previous } = read.record;
    const state = this.#ledgers.get(ledger) ?? { sequence: 0, digest: '', waiting: new Map<number, Waiting>() };
    this.#ledgers.set(ledger, state);
    const fault = (kind: AuditFaultKind, at: number, detail: string): void =>
      void faults.push({ kind, ledger, sequence: at, detail });
    const known = sequence === state.sequence ? state.digest : state.waiting.get(sequence)?.digest;
    if (known !== undefined || sequence < state.sequence) {
      if (known !== undefined && known !== digest)
        fault('forked', sequence, `two different records have the sequence ${sequence}`);
      return { records, faults };
    }
    state.waiting.set(sequence, { sequence, digest, previous, text });
    if (state.waiting.size > this.#maxWaiting) {
      const next = Math.min(...state.waiting.keys());
      fault('deleted', state.sequence + 1, `records ${state.sequence + 1} to ${next - 1} are missing`);
      state.sequence = next - 1;
      state.digest = state.waiting.get(next)!.previous;
    }
    for (let next = state.waiting.get(state.sequence + 1); next; next = state.waiting.get(state.sequence + 1)) {
      if (next.previous !== state.digest)
        fault('edited', next.sequence, `record ${next.sequence} does not name the record before it`);
      state.waiting.delete(next.sequence);
      state.sequence = next.sequence;
      state.digest = next.digest;
      records.push({ ledger, sequence: next.sequence, digest: `sha256:${next.digest}`, text: next.text });
    }
    return { records, faults };
  }
}
