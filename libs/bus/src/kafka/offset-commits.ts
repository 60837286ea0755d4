import type { Consumer } from 'kafkajs';
import { faults } from '#kernel';
import type { BusLog } from '../bus-log.port.ts';
import type { PartitionTracker } from './partition-tracker.ts';
import { within } from './within.ts';

/** How long finished work may stay uncommitted: at most this much is repeated after a kill. */
const COMMIT_MS = 1_000;
/** A stop does not wait longer than this for a broker that is away. */
const LAST_COMMIT_MS = 5_000;

/** Commits of one consumer: merged, one request at a time. */
export class OffsetCommits {
  readonly #consumer: Consumer;
  readonly #group: string;
  readonly #trackers: () => Iterable<PartitionTracker>;
  readonly #log: BusLog;
  #timer: NodeJS.Timeout | null = null;
  #committing: Promise<void> | null = null;
  #ended = false;

  constructor(consumer: Consumer, group: string, trackers: () => Iterable<PartitionTracker>, log: BusLog) {
    this.#consumer = consumer;
    this.#group = group;
    this.#trackers = trackers;
    this.#log = log;
    // kafkajs may skip a commit silently while it reconnects; only this event says that one was made
    consumer.on(consumer.events.COMMIT_OFFSETS, ({ payload: { topics } }) => {
      for (const tracker of this.#trackers()) {
        const made = topics
          .find(({ topic }) => topic === tracker.topic)
          ?.partitions.find((p) => Number(p.partition) === tracker.partition);
        if (made) tracker.committed(Number(made.offset));
      }
    });
  }

  soon(): void {
    if (this.#ended) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.now();
    }, COMMIT_MS);
  }

  now(): void {
    if (this.#ended || this.#committing) return;
    const due = this.#due();
    if (due.length === 0) return;
    faults.at?.(this.#group, 'before-offset-commit');
    this.#committing = this.#consumer
      .commitOffsets(due)
      .then(() => faults.at?.(this.#group, 'after-offset-commit'))
      .catch((error: unknown) =>
        this.#log.debug({ error: error instanceof Error ? error.name : typeof error }, 'bus.commit-failed'),
      )
      .finally(() => {
        this.#committing = null;
        if (this.#due().length > 0) this.soon();
      });
  }

  /** The last commit, bounded in time. */
  async end({ abandon }: { readonly abandon: boolean }): Promise<void> {
    if (this.#ended) return;
    if (!abandon) await within(LAST_COMMIT_MS, this.#commitAll());
    this.#ended = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  async #commitAll(): Promise<void> {
    await this.#committing;
    this.now();
    await this.#committing;
  }

  #due(): { topic: string; partition: number; offset: string }[] {
    const due = [];
    for (const tracker of this.#trackers()) {
      const offset = tracker.due();
      if (offset !== null) due.push({ topic: tracker.topic, partition: tracker.partition, offset: String(offset) });
    }
    return due;
  }
}
