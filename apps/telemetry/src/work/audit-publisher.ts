import { type LedgerId, ledgerName } from '#contracts';
import type { Publisher } from '#bus';
import { faults } from '#kernel';
import type { Database } from '#persistence';
import { errorFields, type Log, type Worker } from '#runtime';
import { advancePublished } from '../adapters/advance-published.query.ts';
import { readUnpublished } from '../adapters/read-unpublished.query.ts';
import { auditMessage, type AuditRecord } from '../domain/chain-events.ts';

export interface AuditPublisherOptions {
  readonly publisher: Publisher;
  readonly database: Database;
  readonly log: Log;
  /** Milliseconds between looks for records that stayed unpublished. */
  readonly sweepMs: number;
  /** Told how many records were published. */
  readonly onPublished: (records: number) => void;
}

/**
 * Publishes the records of the ledgers: the table of records is its own outbox.
 *
 * P1 a record stands in its ledger, committed, before it is published;
 * P2 `published_seq` moves only from one record to the next (a conditional update), so nothing before it is unpublished;
 * P3 what was recorded and stayed unpublished (its process died, the broker was away) is found by the sweep and sent again:
 *    the same event id, the same bytes. Sending twice is harmless, a gap is impossible.
 */
export class AuditPublisher implements Worker {
  readonly #publisher: Publisher;
  readonly #database: Database;
  readonly #log: Log;
  readonly #sweepMs: number;
  readonly #onPublished: (records: number) => void;
  #queue: AuditRecord[] = [];
  #working: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: AuditPublisherOptions) {
    this.#publisher = options.publisher;
    this.#database = options.database;
    this.#log = options.log;
    this.#sweepMs = options.sweepMs;
    this.#onPublished = options.onPublished;
  }

  start(): void {
    this.#timer = setInterval(() => void this.sweep(), this.#sweepMs);
    void this.sweep(true);
  }

  async drain(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    await this.settled();
  }

  /** Resolves when what was given is published or left to the sweep. */
  async settled(): Promise<void> {
    while (this.#working) await this.#working;
  }

  /** Records that were just committed, in the order of their ledgers. Returns at once. */
  publish(records: readonly AuditRecord[]): void {
    this.#queue.push(...records);
    this.#working ??= this.#work().finally(() => {
      this.#working = null;
      if (this.#queue.length > 0) this.publish([]);
    });
  }

  /** Sends what stayed unpublished; `all` does not wait for other processes that may be about to. */
  async sweep(all = false): Promise<void> {
    try {
      const records = await readUnpublished(this.#database, all);
      if (records.length > 0) this.publish(records);
    } catch (error) {
      this.#log.warn(errorFields(error), 'the ledgers could not be looked through');
    }
  }

  async #work(): Promise<void> {
    while (this.#queue.length > 0) {
      const records = this.#queue;
      this.#queue = [];
      try {
        faults.at?.('telemetry', 'before-publish');
        await this.#publisher.publish(records.map(auditMessage));
        faults.at?.('telemetry', 'after-publish');
        await advancePublished(this.#database, spansOf(records));
        this.#onPublished(records.length);
      } catch (error) {
        this.#log.warn(errorFields(error), 'audit records stay unpublished for now; the sweep sends them again');
      }
    }
  }
}

export interface PublishedSpan extends LedgerId {
  readonly from: number;
  readonly to: number;
}

/** Runs of consecutive records. */
function spansOf(records: readonly AuditRecord[]): PublishedSpan[] {
  const spans: { tenant: string; partition: number; from: number; to: number }[] = [];
  for (const own of Map.groupBy(records, ledgerName).values()) {
    const { tenant, partition } = own[0]!;
    const seqs = own.map((record) => record.seq).sort((a, b) => a - b);
    let span = { tenant, partition, from: seqs[0]!, to: seqs[0]! };
    for (const seq of seqs.slice(1)) {
      if (seq <= span.to + 1) span.to = seq;
      else {
        spans.push(span);
        span = { tenant, partition, from: seq, to: seq };
      }
    }
    spans.push(span);
  }
  return spans;
}
