import { signCheckpoint, type CheckpointSigner } from '#audit';
import type { Publisher } from '#bus';
import type { Clock } from '#kernel';
import type { Database } from '#persistence';
import { errorFields, type Log, type Worker } from '#runtime';
import { insertCheckpoints } from '../adapters/insert-checkpoints.query.ts';
import { readUnsignedHeads } from '../adapters/read-unsigned-heads.query.ts';
import { digestOfEvent } from '../domain/chain-events.ts';
import { checkpointMessage } from '../domain/checkpoint-event.ts';

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
 * Signs the heads of the ledgers, beside the path of records.
 *
 * S1 only what the bus acknowledged is signed: a reader of the topic never sees a checkpoint of records that are not there;
 * S2 sizes only grow, and a size is signed once, whichever replica does it;
 * S3 a checkpoint is stored before it is published; one that was not published is no loss, the next one covers more.
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
      const heads = await readUnsignedHeads(database, tenant);
      const now = clock.now();
      const checkpoints = heads.flatMap(({ tenant: ledger, seq, event }) => {
        if (event !== null) return [signCheckpoint(signer, { ledger, size: seq, head: digestOfEvent(event) }, now)];
        log.error({ ledger, sequence: seq }, 'the last published record is not in its ledger: it is not signed');
        return [];
      });
      if (checkpoints.length === 0) return;
      const fresh = await insertCheckpoints(database, checkpoints);
      if (fresh.length > 0) await publisher.publish(fresh.map(checkpointMessage));
    } catch (error) {
      log.warn(errorFields(error), 'checkpoints stay unsigned or unpublished for now; the next look signs more');
    }
  }
}
