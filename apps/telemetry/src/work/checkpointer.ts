import { ledgerName } from '#contracts';
import { signCheckpoint, type Checkpoint, type CheckpointSigner } from '#audit';
import type { Publisher } from '#bus';
import type { Clock } from '#kernel';
import type { Database } from '#persistence';
import { errorFields, type Log, type Worker } from '#runtime';
import { readGrownLedgers, type GrownLedger } from '../adapters/read-grown-ledgers.query.ts';
import { readLeaves } from '../adapters/read-leaves.query.ts';
import { saveTrees } from '../adapters/save-trees.query.ts';
import { checkpointMessage } from '../domain/checkpoint-event.ts';
import { growTree, headOf, type GrownTree } from '../domain/grow-trees.ts';

export interface CheckpointerOptions {
  readonly signer: CheckpointSigner;
  readonly publisher: Publisher;
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds between two looks. */
  readonly everyMs: number;
  /** Published records after which it looks at once. */
  readonly everyRecords: number;
}

/**
 * Signs the heads of each tenant's ledgers together, beside the path of records.
 *
 * S1 only what the bus acknowledged is signed: a reader of the topic never sees a checkpoint of records that are not there;
 * S2 sizes only grow, and a size is signed once, whichever replica does it;
 * S3 a checkpoint is stored before it is published, with the trees that it signs; one that was not published is no loss, the next
 *    one covers more;
 * S4 of a tenant whose ledger lost what was signed, or misses a record behind that, nothing more is signed.
 */
export class Checkpointer implements Worker {
  readonly #options: CheckpointerOptions;
  #published = 0;
  #working: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | null = null;

  constructor(options: CheckpointerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => void this.sign(), this.#options.everyMs);
  }

  async drain(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    await this.sign();
  }

  /** Counts records that were published. Returns at once. */
  noted(records: number): void {
    this.#published += records;
    if (this.#timer && this.#published >= this.#options.everyRecords) void this.sign();
  }

  /** Signs what stands beyond its last checkpoint, of all ledgers or of one. Never rejects: what fails is tried again later. */
  sign(tenant: string | null = null): Promise<void> {
    if (tenant === null) this.#published = 0;
    return (this.#working = this.#working.then(() => this.#sign(tenant)));
  }

  async #sign(tenant: string | null): Promise<void> {
    const { database, signer, publisher, clock, log } = this.#options;
    try {
      const ledgers = await readGrownLedgers(database, tenant);
      if (ledgers.length === 0) return;
      const trees = await this.#grow(ledgers);
      const now = clock.now();
      const checkpoints: Checkpoint[] = [];
      for (const [owner, own] of Map.groupBy(trees, (tree) => tree.tenant))
        checkpoints.push(signCheckpoint(signer, { tenant: owner, ledgers: own.map(headOf) }, now));
      if (checkpoints.length === 0) return;
      const fresh = await database.transaction((tx) => saveTrees(tx, trees, checkpoints));
      if (fresh.length > 0) await publisher.publish(fresh.map(checkpointMessage));
    } catch (error) {
      log.warn(errorFields(error), 'checkpoints stay unsigned or unpublished for now; the next look signs more');
    }
  }

  /** The trees of the ledgers over what is published. */
  async #grow(ledgers: readonly GrownLedger[]): Promise<GrownTree[]> {
    const spans = ledgers
      .filter(({ published, size }) => published > size)
      .map(({ tenant, partition, published, size }) => ({
        tenant,
        partition,
        from: size + 1,
        to: Math.min(published, size + MAX_LEAVES),
      }));
    const leaves = Map.groupBy(await readLeaves(this.#options.database, spans), ledgerName);
    const wanted = new Map(spans.map((span) => [ledgerName(span), span.to]));
    const faulty = new Set<string>();
    const trees = ledgers.map(({ published, ...stored }) => {
      const name = ledgerName(stored);
      const tree = growTree(stored, leaves.get(name) ?? []);
      if (published < stored.size || tree.size < (wanted.get(name) ?? tree.size)) {
        faulty.add(stored.tenant);
        this.#options.log.error(
          { ledger: name, sequence: tree.size + 1 },
          'a published record is not in its ledger: nothing more is signed for its tenant',
        );
      }
      return tree;
    });
    return trees.filter(({ tenant, size }) => !faulty.has(tenant) && size > 0);
  }
}

/** Of one ledger at a time: what is more is signed at the next look. */
const MAX_LEAVES = 50_000;
