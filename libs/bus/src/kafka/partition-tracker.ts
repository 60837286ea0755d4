/**
 * The records of one partition that are in work.
 *
 * T1 The committed offset is behind the highest contiguous done record, in the order of arrival.
 * T2 A record is admitted once: what a rebalance makes kafkajs fetch again, while it is still queued here, is passed over.
 * T3 Once lost to another member nothing more is committed.
 */
export class PartitionTracker {
  readonly topic: string;
  readonly partition: number;
  #open: TrackedRecord[] = [];
  #head = 0;
  #next = -1;
  #position = -1;
  #committed = -1;
  #lost = false;

  constructor(topic: string, partition: number) {
    this.topic = topic;
    this.partition = partition;
  }

  get lost(): boolean {
    return this.#lost;
  }

  /** The offset behind the highest one admitted; -1 before the first. */
  get next(): number {
    return this.#next;
  }

  admit(offset: number): TrackedRecord | null {
    if (offset < this.#next) return null;
    this.#next = offset + 1;
    const record = new TrackedRecord(this, offset);
    this.#open.push(record);
    return record;
  }

  /** Where to begin when nothing was admitted yet. */
  startAt(offset: number): void {
    if (this.#next < offset) this.#next = offset;
  }

  lose(): void {
    this.#lost = true;
    this.#open = [];
    this.#head = 0;
  }

  /** The offset to commit, if there is a new one. */
  due(): number | null {
    return !this.#lost && this.#position > this.#committed ? this.#position : null;
  }

  committed(offset: number): void {
    this.#committed = Math.max(this.#committed, offset);
  }

  advance(): void {
    while (this.#head < this.#open.length && this.#open[this.#head]!.isDone)
      this.#position = this.#open[this.#head++]!.offset + 1;
    if (this.#head === this.#open.length || this.#head > 1024) {
      this.#open = this.#open.slice(this.#head);
      this.#head = 0;
    }
  }
}

export class TrackedRecord {
  readonly offset: number;
  readonly #tracker: PartitionTracker;
  #done = false;

  constructor(tracker: PartitionTracker, offset: number) {
    this.#tracker = tracker;
    this.offset = offset;
  }

  get isDone(): boolean {
    return this.#done;
  }

  get isStale(): boolean {
    return this.#tracker.lost;
  }

  done(): void {
    this.#done = true;
    this.#tracker.advance();
  }
}
