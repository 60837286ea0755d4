/**
 * What can be wrong with the ledgers of a tenant:
 * - `deleted`    sequences are missing between others
 * - `edited`     a record's bytes are not those that the record after it names
 * - `reordered`  a record stands at another place than its sequence or its previous digest says
 * - `truncated`  a checkpoint signs more records than there are
 * - `rewritten`  the chain holds, but leads to another record, or its tree to another root, than what was signed
 * - `forked`     two records of one sequence, two signed heads of one size, or checkpoints of which neither follows the other
 * - `duplicate`  one record twice in an ordered source, two terminal records of one call, one run number given twice
 * - `incomplete` a run number, a run's start or end, or a call's terminal record is missing (or there is one too many)
 * - `gap`        facts were deleted by their topic's retention before they were recorded, as the ledger itself says: no tampering,
 *                but what happened meanwhile may be missing
 * - `signature`  a checkpoint is not signed by a key that was given, or is malformed
 * - `unreadable` a record is not a CloudEvent of a ledger
 */
export type AuditFaultKind =
  | 'deleted'
  | 'edited'
  | 'reordered'
  | 'truncated'
  | 'rewritten'
  | 'forked'
  | 'duplicate'
  | 'incomplete'
  | 'gap'
  | 'signature'
  | 'unreadable';

export interface AuditFault {
  readonly kind: AuditFaultKind;
  /** The ledger's name; the tenant, where the fault lies between its ledgers; '' where it cannot be told. */
  readonly ledger: string;
  /** The record's number in its ledger, from 1; 0 where the fault has no place in the chain. */
  readonly sequence: number;
  /** One sentence for people; ids and numbers, no content of calls. */
  readonly detail: string;
}

export interface LedgerSummary {
  /** `<tenant>/<partition>`. */
  readonly ledger: string;
  /** Sequence of the last record that was read. */
  readonly size: number;
  /** `sha256:<hex>` of the last record; '' when there is none. */
  readonly head: string;
  /** Heads of this ledger that were verified in checkpoints, each size once. */
  readonly checkpoints: number;
  /** Records up to this one are signed, and are those that were signed; 0 = none. */
  readonly signedUpTo: number;
}

/** Runs are told of a tenant: their records lie in all its ledgers. */
export interface TenantSummary {
  readonly tenant: string;
  readonly records: number;
  /** Records that are signed, and are those that were signed. */
  readonly signed: number;
  readonly runs: number;
  /** Runs that have not ended yet: their completeness is judged when they have. */
  readonly openRuns: number;
  readonly calls: number;
}

export interface AuditReport {
  /** No fault was found. */
  readonly verified: boolean;
  /** Records read, repeats of a topic not counted. */
  readonly records: number;
  readonly tenants: readonly TenantSummary[];
  readonly ledgers: readonly LedgerSummary[];
  /** At most 1000; `faultCount` counts all. */
  readonly faults: readonly AuditFault[];
  readonly faultCount: number;
}

const MAX_FAULTS = 1000;

/** Collects faults; keeps the first thousand, counts all. */
export class FaultList {
  readonly faults: AuditFault[] = [];
  count = 0;

  add(kind: AuditFaultKind, ledger: string, sequence: number, detail: string): void {
    this.count++;
    if (this.faults.length < MAX_FAULTS) this.faults.push({ kind, ledger, sequence, detail });
  }
}
