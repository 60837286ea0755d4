import { type LedgerId, ledgerName, readLedgerName } from '#contracts';
import { consistencyPath, inclusionPath, type RangeOf } from '#kernel';
import type { ConsistencyProof, InclusionProof, LedgerHead } from '#audit';
import type { Database } from '#persistence';
import { readLastCheckpoint } from '../adapters/read-checkpoints.query.ts';
import { readLeaves } from '../adapters/read-leaves.query.ts';
import { findRecord, readTiles } from '../adapters/read-proof-parts.query.ts';
import { leavesNeeded, rangesOf } from '../domain/tiled-tree.ts';
import type { Checkpointer } from './checkpointer.ts';

/**
 * Proofs against the newest checkpoint of a tenant. They show only hashes beside what is asked for: whoever gets one learns
 * nothing of other records. null = there is nothing of that tenant to prove, or it is not published yet.
 */
export class Prover {
  readonly #database: Database;
  readonly #checkpointer: Pick<Checkpointer, 'sign'>;

  constructor(database: Database, checkpointer: Pick<Checkpointer, 'sign'>) {
    this.#database = database;
    this.#checkpointer = checkpointer;
  }

  /** That a record is in its ledger. */
  async inclusion(tenant: string, eventId: string): Promise<InclusionProof | null> {
    const record = await findRecord(this.#database, tenant, eventId);
    if (!record) return null;
    const signed = await this.#signed(record, record.seq);
    if (!signed) return null;
    const { size } = signed.head;
    const rangeOf = await this.#ranges(record, record.seq - 1, size);
    return {
      kind: 'inclusion',
      ledger: ledgerName(record),
      sequence: record.seq,
      size,
      path: inclusionPath(record.seq - 1, size, rangeOf).map(hex),
      record: JSON.parse(record.event) as unknown,
      checkpoint: signed.checkpoint,
    };
  }

  /** That the ledger as it is signed now begins with what it was when it had `from` records. */
  async consistency(tenant: string, ledger: string, from: number): Promise<ConsistencyProof | null> {
    const id = readLedgerName(ledger);
    if (id?.tenant !== tenant) return null;
    const signed = await this.#signed(id, from);
    if (!signed) return null;
    const { size } = signed.head;
    const rangeOf = await this.#ranges(id, from - 1, size);
    return {
      kind: 'consistency',
      ledger,
      from,
      size,
      path: consistencyPath(from, size, rangeOf).map(hex),
      checkpoint: signed.checkpoint,
    };
  }

  /** The newest checkpoint, signed anew where it does not reach the record yet. */
  async #signed(id: LedgerId, seq: number): Promise<{ head: LedgerHead; checkpoint: string } | null> {
    for (const anew of [false, true]) {
      if (anew) await this.#checkpointer.sign(id.tenant);
      const checkpoint = await readLastCheckpoint(this.#database, id.tenant);
      const head = checkpoint?.ledgers.find(({ ledger }) => ledger === ledgerName(id));
      if (checkpoint && head && head.size >= seq) return { head, checkpoint: checkpoint.jws };
    }
    return null;
  }

  async #ranges(id: LedgerId, index: number, size: number): Promise<RangeOf> {
    const spans = leavesNeeded(index, size).map(({ start, end }) => ({ ...id, from: start + 1, to: end }));
    const [tiles, leaves] = await Promise.all([
      readTiles(this.#database, id, Math.floor(size / 256)),
      readLeaves(this.#database, spans),
    ]);
    return rangesOf(tiles, new Map(leaves.map(({ seq, digest }) => [seq - 1, digest])));
  }
}

const hex = (hash: Buffer): string => `sha256:${hash.toString('hex')}`;
