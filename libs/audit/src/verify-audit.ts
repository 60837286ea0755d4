import { readLedgerName } from '#contracts';
import { GAP_TYPE, readEvent, readRecord, type AuditRecordText, type ReadRecord } from './audit-record.ts';
import { FaultList, type AuditReport, type LedgerSummary } from './audit-report.ts';
import { ChainCheck } from './chain-check.ts';
import { importKeys, type Checkpoint } from './checkpoint.ts';
import { HeadCheck } from './head-check.ts';
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
  /** The tenant of `runIds`; default: the only one, else the first. */
  readonly tenant?: string;
}

interface Ledger {
  readonly tenant: string;
  readonly chain: ChainCheck;
  readonly runs: RunCheck;
}

/** A verification that is fed record by record: what `verifyAudit` does, for sources that push. */
export class AuditVerifier {
  readonly #options: VerifyOptions;
  readonly #faults = new FaultList();
  readonly #heads: HeadCheck | null;
  readonly #ledgers = new Map<string, Ledger>();
  readonly #tenants = new Map<string, RunCheck>();
  #records = 0;
  #last: { name: string; ledger: Ledger } | null = null;

  /** @throws ZodError or TypeError when a key is no Ed25519 JWK */
  constructor(options: VerifyOptions = {}) {
    this.#options = options;
    this.#heads = options.keys === undefined ? null : new HeadCheck(importKeys(options.keys), this.#faults);
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
    const { chain, runs } = this.#ledgerOf(read.record);
    if (!chain.add(read.record)) return;
    this.#records++;
    runs.add(read.record);
    if (read.record.type === GAP_TYPE) this.#addGap(read.record);
  }

  #addGap({ ledger, sequence, data }: AuditRecordText): void {
    const { topic, partition, from_offset: from, to_offset: to } = data;
    const since = from === null ? 'up to' : `from ${Number(from)} up to`;
    this.#faults.add(
      'gap',
      ledger,
      sequence,
      `facts of ${String(topic)}, partition ${Number(partition)}, offsets ${since} ${Number(to) - 1}, were deleted before they were recorded` +
        (from === null ? '; which of them were recorded is not known' : ''),
    );
  }

  addCheckpoint(jws: string): void {
    this.#heads?.add(jws);
  }

  /** Whether nothing that was read still waits for a record that is not there. */
  isComplete(): boolean {
    const asked = this.#askedTenant();
    const { runIds = [] } = this.#options;
    if (runIds.length > 0 && !this.#tenants.has(asked)) return false;
    return [...this.#tenants].every(([tenant, runs]) => runs.isComplete(tenant === asked ? runIds : []));
  }

  /** Call it once, at the end. */
  conclude(): AuditReport {
    const asked = this.#askedTenant();
    const { runIds = [] } = this.#options;
    if (runIds.length > 0 || this.#options.tenant !== undefined) this.#runsOf(asked);
    for (const ledger of this.#heads?.ledgers ?? []) this.#ledgerOf({ tenant: readLedgerName(ledger)!.tenant, ledger });
    const ledgers = [...this.#ledgers].map(([name, { chain }]) => this.#concludeLedger(name, chain));
    this.#heads?.concludeOrder();
    for (const [tenant, runs] of this.#tenants) runs.conclude(tenant === asked ? runIds : []);
    const { faults, count } = this.#faults;
    const tenants = [...this.#tenants].map(([tenant, runs]) => {
      const own = ledgers.filter(({ ledger }) => this.#ledgers.get(ledger)!.tenant === tenant);
      return {
        tenant,
        records: own.reduce((sum, { size }) => sum + size, 0),
        signed: own.reduce((sum, { signedUpTo }) => sum + signedUpTo, 0),
        runs: runs.runs,
        openRuns: runs.openRuns,
        calls: runs.calls,
      };
    });
    return { verified: count === 0, records: this.#records, tenants, ledgers, faults, faultCount: count };
  }

  #concludeLedger(ledger: string, chain: ChainCheck): LedgerSummary {
    let signed = { checkpoints: 0, signedUpTo: 0 };
    if (this.#heads) signed = this.#heads.conclude(ledger, chain);
    else chain.conclude(() => false);
    return { ledger, size: chain.size, head: chain.head === '' ? '' : `sha256:${chain.head}`, ...signed };
  }

  #askedTenant(): string {
    return this.#options.tenant ?? this.#tenants.keys().next().value ?? '';
  }

  #runsOf(tenant: string): RunCheck {
    let runs = this.#tenants.get(tenant);
    if (!runs) this.#tenants.set(tenant, (runs = new RunCheck(tenant, this.#faults)));
    return runs;
  }

  /** Neighbouring records are mostly of one ledger. */
  #ledgerOf({ tenant, ledger: name }: Pick<AuditRecordText, 'tenant' | 'ledger'>): Ledger {
    if (this.#last?.name === name) return this.#last.ledger;
    let ledger = this.#ledgers.get(name);
    if (!ledger) {
      const ordered = this.#options.order !== 'topic';
      const maxBuffered = this.#options.maxBuffered ?? (ordered ? 1_024 : 100_000);
      const chain = new ChainCheck(name, this.#faults, { ordered, maxBuffered });
      ledger = { tenant, chain, runs: this.#runsOf(tenant) };
      this.#ledgers.set(name, ledger);
    }
    this.#last = { name, ledger };
    return ledger;
  }
}

/**
 * Verifies ledgers: their chains, signed heads and, of each tenant, completeness. Each fault is named with its ledger and sequence.
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
