import type { KeyObject } from 'node:crypto';
import { readEvent, readRecord, type ReadRecord } from './audit-record.ts';
import { FaultList, type AuditReport, type LedgerSummary } from './audit-report.ts';
import { ChainCheck } from './chain-check.ts';
import { checkCheckpoint, importKeys, type Checkpoint, type CheckpointClaims } from './checkpoint.ts';
import { RunCheck } from './run-check.ts';

export interface VerifyOptions {
  /** Signed heads to check against: those of `GET /v1/audit/checkpoints`, or kept by the auditor since an earlier look. */
  readonly checkpoints?: readonly (Checkpoint | string)[];
  /** Public keys (JWK) that may sign checkpoints. Without them no checkpoint is believed, and none is reported as a fault. */
  readonly keys?: readonly unknown[];
  /**
   * `store` (default): each ledger's records come in its order, each once; any other order is a fault.
   * `topic`: partitions interleave and deliveries repeat; the order is restored.
   */
  readonly order?: 'store' | 'topic';
  /** Records of a ledger that wait for their predecessors, at most; default 100,000 for a topic. */
  readonly maxBuffered?: number;
  /** Runs that must be recorded to their end. */
  readonly runIds?: readonly string[];
  /** The ledger of `runIds`; default: the only one, else the first. */
  readonly ledger?: string;
}

interface Ledger {
  readonly chain: ChainCheck;
  readonly runs: RunCheck;
}

/** A verification that is fed record by record: what `verifyAudit` does, for sources that push. */
export class AuditVerifier {
  readonly #options: VerifyOptions;
  readonly #keys: ReadonlyMap<string, KeyObject> | null;
  readonly #faults = new FaultList();
  readonly #ledgers = new Map<string, Ledger>();
  readonly #checkpoints = new Map<string, CheckpointClaims[]>();
  #records = 0;
  #last: { name: string; ledger: Ledger } | null = null;

  /** @throws ZodError or TypeError when a key is no Ed25519 JWK */
  constructor(options: VerifyOptions = {}) {
    this.#options = options;
    this.#keys = options.keys === undefined ? null : importKeys(options.keys);
    for (const checkpoint of options.checkpoints ?? [])
      this.addCheckpoint(typeof checkpoint === 'string' ? checkpoint : checkpoint.jws);
  }

  /** The JSON text of one CloudEvent, byte for byte as it was published or stored. */
  add(text: string): void {
    this.#add(readRecord(text));
  }

  /** An event that is parsed already. Ours are written by JSON.stringify: written again, they are the same bytes. */
  addEvent(event: unknown): void {
    this.#add(readEvent(event, JSON.stringify(event)));
  }

  #add(read: ReadRecord): void {
    if (read.kind === 'checkpoint') {
      this.addCheckpoint(read.jws);
      return;
    }
    if (read.kind === 'unreadable') {
      this.#records++;
      this.#faults.add('unreadable', read.ledger, 0, `item ${this.#records} is no audit record: ${read.reason}`);
      return;
    }
    const { chain, runs } = this.#ledger(read.record.ledger);
    if (!chain.add(read.record)) return;
    this.#records++;
    runs.add(read.record);
  }

  addCheckpoint(jws: string): void {
    if (!this.#keys) return;
    const checked = checkCheckpoint(jws, this.#keys);
    if (!checked.ok) {
      this.#faults.add('signature', checked.ledger, checked.size, `a checkpoint is not believed: ${checked.reason}`);
      return;
    }
    const { claims } = checked;
    const others = this.#checkpoints.get(claims.ledger) ?? [];
    this.#checkpoints.set(claims.ledger, others);
    const same = others.find(({ size }) => size === claims.size);
    if (!same) others.push(claims);
    else if (same.head !== claims.head)
      this.#faults.add('forked', claims.ledger, claims.size, `two signed heads exist for ${claims.size} records`);
  }

  /** Whether nothing that was read still waits for a record that is not there. */
  isComplete(): boolean {
    const asked = this.#askedLedger();
    const { runIds = [] } = this.#options;
    if (runIds.length > 0 && !this.#ledgers.has(asked)) return false;
    return [...this.#ledgers].every(([name, { runs }]) => runs.isComplete(name === asked ? runIds : []));
  }

  /** Call it once, at the end. */
  conclude(): AuditReport {
    const asked = this.#askedLedger();
    if ((this.#options.runIds?.length ?? 0) > 0 || this.#options.ledger !== undefined) this.#ledger(asked);
    for (const name of this.#checkpoints.keys()) this.#ledger(name);
    const ledgers = [...this.#ledgers].map(([name, ledger]) =>
      this.#concludeLedger(name, ledger, name === asked ? (this.#options.runIds ?? []) : []),
    );
    const { faults, count } = this.#faults;
    return { verified: count === 0, records: this.#records, ledgers, faults, faultCount: count };
  }

  #concludeLedger(name: string, { chain, runs }: Ledger, runIds: readonly string[]): LedgerSummary {
    const checkpoints = (this.#checkpoints.get(name) ?? []).sort((a, b) => a.size - b.size);
    const headOf = new Map(checkpoints.map(({ size, head }) => [size, head.slice(7)]));
    chain.conclude((sequence) => headOf.get(sequence) === chain.digestAt(sequence));
    runs.conclude(runIds);
    let signedUpTo = 0;
    for (const { size } of checkpoints.filter((checkpoint) => checkpoint.size <= chain.size)) {
      if (chain.digestAt(size) === headOf.get(size)) signedUpTo = size;
      else {
        const since = signedUpTo === 0 ? 'the beginning' : `record ${signedUpTo}`;
        const detail = `record ${size} is not the one that was signed: something since ${since} was written anew`;
        this.#faults.add('rewritten', name, size, detail);
        break;
      }
    }
    const last = checkpoints.at(-1);
    if (last && last.size > chain.size) {
      const at = new Date(last.iat * 1000).toISOString();
      const detail = `${last.size} records were signed at ${at}; there are ${chain.size}`;
      this.#faults.add('truncated', name, chain.size + 1, detail);
    }
    return {
      ledger: name,
      size: chain.size,
      head: chain.head === '' ? '' : `sha256:${chain.head}`,
      checkpoints: checkpoints.length,
      signedUpTo,
      runs: runs.runs,
      openRuns: runs.openRuns,
      calls: runs.calls,
    };
  }

  #askedLedger(): string {
    return this.#options.ledger ?? this.#ledgers.keys().next().value ?? '';
  }

  /** Neighbouring records are mostly of one ledger. */
  #ledger(name: string): Ledger {
    if (this.#last?.name === name) return this.#last.ledger;
    let ledger = this.#ledgers.get(name);
    if (!ledger) {
      const ordered = this.#options.order !== 'topic';
      const maxBuffered = this.#options.maxBuffered ?? (ordered ? 1_024 : 100_000);
      ledger = {
        chain: new ChainCheck(name, this.#faults, { ordered, maxBuffered }),
        runs: new RunCheck(name, this.#faults),
      };
      this.#ledgers.set(name, ledger);
    }
    this.#last = { name, ledger };
    return ledger;
  }
}

/**
 * Verifies ledgers: chain, completeness, signed heads. Each fault is named with its ledger and sequence.
 * @param source JSON texts of CloudEvents, byte for byte: lines of a file, values of the topic `audit.events`, pages of a store
 * @throws what the source throws; ZodError or TypeError when a key is no Ed25519 JWK
 */
export async function verifyAudit(
  source: AsyncIterable<string> | Iterable<string>,
  options: VerifyOptions = {},
): Promise<AuditReport> {
  const verifier = new AuditVerifier(options);
  for await (const text of source) verifier.add(text);
  return verifier.conclude();
}
