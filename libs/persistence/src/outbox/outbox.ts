import type { OutgoingMessage } from '#contracts';
import { faults } from '#kernel';
import type { Database, Tx } from '../database.ts';
import { appendOutgoing } from './append-outgoing.query.ts';
import { claimDueOutgoing } from './claim-due-outgoing.query.ts';

/**
 * Outgoing messages of one service.
 *
 * Owns: the `outgoing` table of its schema. Called by: handlers, after their decision.
 * O1 a message stands in a row of the transaction that saved the state which sends it (`append`): one row a commit.
 * O2 after the commit it is published directly (`emit`, not awaited by the handler); the row goes when the bus acknowledged it.
 * O3 a row that stays is sent again by the sweeper, by the row's own status and the database's clock alone.
 *    Rows that this process is still publishing are left alone: a slow group is not sent everything twice.
 * O4 losing an acknowledgement costs a repeat, never a message: acknowledgements commit without waiting for the disk.
 */
export interface Staged {
  /** Of the rows. */
  readonly ids: readonly number[];
  readonly messages: readonly OutgoingMessage[];
}

export interface OutboxOptions {
  readonly database: Database;
  readonly publish: (messages: readonly OutgoingMessage[]) => Promise<void>;
  readonly onError: (error: unknown) => void;
  /** Milliseconds between looks for rows that stayed; default 1000. */
  readonly sweepMs?: number;
}

/** Milliseconds for which acknowledged rows are gathered before they are deleted. */
const GATHER_MS = 50;
/** Rows of one sweep. */
const SWEEP_LIMIT = 64;

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #inWork = new Set<Promise<void>>();
  readonly #publishing = new Set<number>();
  #acknowledged: number[] = [];
  #acknowledging: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #draining = false;
  #endGathering: () => void = () => undefined;
  #sweeping: Promise<void> | null = null;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** In the caller's transaction. Hand the answer to `emit` once it is committed. */
  async append(tx: Tx, messages: readonly OutgoingMessage[]): Promise<Staged> {
    return { ids: await appendOutgoing(tx, messages), messages };
  }

  /** Publishes what was committed. Returns at once; failures are left to the sweeper. */
  emit(staged: Staged): void {
    if (staged.ids.length === 0) return;
    for (const id of staged.ids) this.#publishing.add(id);
    faults.at?.(this.#options.database.schema, 'before-publish');
    const work = this.#options
      .publish(staged.messages)
      .finally(() => staged.ids.forEach((id) => this.#publishing.delete(id)))
      .then(() => {
        faults.at?.(this.#options.database.schema, 'after-publish');
        return this.#acknowledge(staged.ids);
      })
      .catch(this.#options.onError)
      .finally(() => this.#inWork.delete(work));
    this.#inWork.add(work);
  }

  /** Begins to sweep: at once for what an earlier process left, then at intervals. */
  start(): void {
    if (this.#timer) return;
    this.#timer = setInterval(() => void this.sweep(), this.#options.sweepMs ?? 1000);
    void this.sweep({ all: true });
  }

  /** Sends what is due (or all that stands). One sweep at a time. */
  sweep({ all = false } = {}): Promise<void> {
    this.#sweeping ??= this.#sweepDue(all)
      .catch(this.#options.onError)
      .finally(() => {
        this.#sweeping = null;
      });
    return this.#sweeping;
  }

  async #sweepDue(all: boolean): Promise<void> {
    const claimed = await claimDueOutgoing(this.#options.database, SWEEP_LIMIT, all);
    for (const row of claimed) {
      if (!this.#publishing.has(row.id)) this.emit({ ids: [row.id], messages: row.messages });
    }
  }

  /** Waits until all emitted messages are published and acknowledged; stops the sweeper. */
  async drain(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    await this.#sweeping;
    this.#draining = true;
    this.#endGathering();
    while (this.#inWork.size > 0) await Promise.allSettled([...this.#inWork]);
    await this.#acknowledging;
    this.#draining = false;
  }

  /** Nobody waits for an acknowledgement: those of a moment go together. */
  #gather(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#draining) return resolve();
      const timer = setTimeout(resolve, GATHER_MS);
      this.#endGathering = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Merges acknowledgements: one statement at a time, each for all that came meanwhile. */
  #acknowledge(ids: readonly number[]): Promise<void> {
    this.#acknowledged.push(...ids);
    this.#acknowledging ??= this.#deleteAcknowledged();
    return this.#acknowledging;
  }

  async #deleteAcknowledged(): Promise<void> {
    try {
      await this.#gather();
      while (this.#acknowledged.length > 0) {
        const ids = this.#acknowledged;
        this.#acknowledged = [];
        faults.at?.(this.#options.database.schema, 'before-acknowledge');
        await this.#options.database.change({
          name: 'delete-acknowledged',
          text: `with off as (select set_config('synchronous_commit', 'off', true))
                 delete from outgoing using off where id = any($1::bigint[])`,
          values: [ids],
        });
        faults.at?.(this.#options.database.schema, 'after-acknowledge');
      }
    } finally {
      this.#acknowledging = null; // in the same tick as the last look: nothing can slip in between
    }
  }
}
