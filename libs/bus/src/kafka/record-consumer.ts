import type { Consumer, EachBatchPayload, KafkaMessage } from 'kafkajs';
import { CLIENT_RETRY, createClient, type KafkaConnection } from './kafka-client.ts';
import type { Jump } from './offset-gaps.ts';
import { OffsetCommits } from './offset-commits.ts';
import { PartitionTracker, type TrackedRecord } from './partition-tracker.ts';
import { PollSockets } from './poll-sockets.ts';
import { within } from './within.ts';

/**
 * One kafkajs consumer: fetches, hands over, commits what is done.
 *
 * C1 `eachBatch` hands its records over and returns at once: waiting there would hold up every partition's next fetch.
 * C2 While its reader has no room it does wait there, with heartbeats: kafkajs' own pause sleeps through a resume and drops what was fetched.
 *    Off the path, polls that brought something begin at least `paceMs` apart.
 * C3 After each join, trackers of lost partitions end; kept ones go on, so nothing that is queued here comes twice or gets lost.
 * C4 `latest` positions are fixed before the group is joined and survive a rejoin; they are never committed.
 * C5 kafkajs restarts itself after errors that may pass; an error that may not is fatal for the process.
 * C6 Where offsets jump, nothing is handed over before whoever asked for it knows.
 */
export interface RecordConsumerOptions {
  readonly connection: KafkaConnection;
  readonly groupId: string;
  readonly topics: readonly string[];
  readonly timings: ConsumerTimings;
  /** topic → partition → offset, for `latest`; absent = from the committed offset, else the earliest. */
  readonly startAt?: ReadonlyMap<string, ReadonlyMap<number, number>>;
  readonly deliver: (records: readonly FetchedRecord[]) => void;
  /** A promise of room when the reader is full. */
  readonly room: () => Promise<void> | null;
  readonly onFatal: (error: Error) => void;
  /** Offsets of a partition are not the next ones: nothing is handed over until it resolves. */
  readonly onJump: (jump: Jump) => Promise<void>;
  /** Milliseconds between polls; 0 = none. Shorter than a heartbeat. */
  readonly paceMs: number;
}

export interface ConsumerTimings {
  /** How long a poll waits for a first message. Messages end it at once: long is cheap. */
  readonly maxWaitMs: number;
  readonly heartbeatMs: number;
  /** After this silence the broker gives the partitions to others. */
  readonly sessionMs: number;
}

export interface FetchedRecord {
  readonly topic: string;
  readonly partition: number;
  readonly message: KafkaMessage;
  readonly tracked: TrackedRecord;
  /** To be called once, when the record needs no more work. */
  done(): void;
}

const JOIN_MS = 60_000;
const START_GRACE_MS = 5_000;
const STOP_MS = 5_000;
const END_POLL_MS = 50;
/** A paced poll's partitions wait together for the next one. */
const PACED_PARTITIONS = 64;

export class RecordConsumer {
  readonly #options: RecordConsumerOptions;
  readonly #sockets = new PollSockets();
  readonly #consumer: Consumer;
  readonly #commits: OffsetCommits;
  readonly #trackers = new Map<string, PartitionTracker>();
  readonly #released = Promise.withResolvers<void>();
  readonly #joined = Promise.withResolvers<void>();
  #starting: Promise<void> = Promise.resolve();
  #stopping = false;
  #lastSeen = 0;
  #pace: Promise<void> | null = null;

  constructor(options: RecordConsumerOptions) {
    this.#options = options;
    const { maxWaitMs, heartbeatMs, sessionMs } = options.timings;
    this.#consumer = createClient(options.connection, this.#sockets.factory).consumer({
      groupId: options.groupId,
      maxWaitTimeInMs: maxWaitMs,
      heartbeatInterval: heartbeatMs,
      sessionTimeout: sessionMs,
      rebalanceTimeout: Math.max(sessionMs, 15_000),
      allowAutoTopicCreation: false,
      retry: { ...CLIENT_RETRY, restartOnFailure: async () => !this.#stopping },
    });
    this.#commits = new OffsetCommits(
      this.#consumer,
      options.groupId,
      () => this.#trackers.values(),
      options.connection.log,
    );
    this.#joined.promise.catch(() => undefined);
    this.#listen();
  }

  /** Resolves when the group is joined and every position is fixed. */
  start(): Promise<void> {
    const starting = this.#start();
    this.#starting = starting.catch(() => undefined);
    return starting;
  }

  async #start(): Promise<void> {
    const { groupId, topics, startAt } = this.#options;
    const late = setTimeout(
      () => this.#joined.reject(new Error(`the consumer group ${groupId} was not joined within ${JOIN_MS} ms`)),
      JOIN_MS,
    );
    try {
      await this.#consumer.connect();
      await this.#consumer.subscribe({ topics: [...topics], fromBeginning: !startAt });
      await this.#consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: this.#options.paceMs > 0 ? PACED_PARTITIONS : 1,
        eachBatch: (payload) => this.#take(payload),
      });
      await this.#joined.promise;
    } finally {
      clearTimeout(late);
    }
  }

  /** Fetches no more. Records already handed over may still be finished. */
  hold(): void {
    this.#stopping = true;
  }

  /** Commits what is done (unless abandoned), leaves the group and disconnects. */
  async stop(options: { readonly abandon: boolean }): Promise<void> {
    this.#stopping = true;
    await within(START_GRACE_MS, this.#starting); // kafkajs cannot leave a group that it is still joining
    await this.#commits.end(options);
    const stopped = this.#consumer.disconnect().catch(() => undefined);
    this.#released.resolve();
    const ending = setInterval(() => this.#sockets.endPolls(), END_POLL_MS);
    this.#sockets.endPolls();
    await within(STOP_MS, stopped);
    clearInterval(ending);
    this.#sockets.destroyAll(); // what is still joining then cannot leave in order
    await within(STOP_MS, stopped);
  }

  healthy(): boolean {
    const { maxWaitMs, heartbeatMs } = this.#options.timings;
    return Date.now() - this.#lastSeen < 3 * (maxWaitMs + heartbeatMs);
  }

  #listen(): void {
    const { GROUP_JOIN, HEARTBEAT, CRASH, REBALANCING } = this.#consumer.events;
    this.#consumer.on(HEARTBEAT, () => this.#seen());
    this.#consumer.on(REBALANCING, () => this.#commits.now());
    this.#consumer.on(GROUP_JOIN, ({ payload }) => {
      this.#seen();
      this.#assign(payload.memberAssignment);
      this.#joined.resolve();
    });
    this.#consumer.on(CRASH, ({ payload: { error, restart } }) => {
      this.#lastSeen = 0;
      if (restart || this.#stopping) return;
      this.#joined.reject(error);
      this.#options.onFatal(error);
    });
  }

  #seen(): void {
    this.#lastSeen = Date.now();
  }

  #assign(assignment: Readonly<Record<string, readonly number[]>>): void {
    const owned = new Set(
      Object.entries(assignment).flatMap(([topic, partitions]) => partitions.map((p) => keyOf(topic, p))),
    );
    for (const [key, tracker] of this.#trackers) {
      if (owned.has(key)) continue;
      tracker.lose();
      this.#trackers.delete(key);
    }
    for (const [topic, partitions] of Object.entries(assignment)) {
      for (const partition of partitions) this.#own(topic, partition);
    }
  }

  #own(topic: string, partition: number): void {
    const tracker = this.#trackers.get(keyOf(topic, partition)) ?? new PartitionTracker(topic, partition);
    this.#trackers.set(keyOf(topic, partition), tracker);
    if (!this.#options.startAt) return;
    tracker.startAt(this.#options.startAt.get(topic)?.get(partition) ?? 0);
    this.#consumer.seek({ topic, partition, offset: String(tracker.next) });
  }

  async #take({ batch, resolveOffset, heartbeat }: EachBatchPayload): Promise<void> {
    if (this.#stopping) return this.#wait(this.#released.promise, heartbeat);
    const { topic, partition } = batch;
    const tracker = this.#trackers.get(keyOf(topic, partition));
    if (!tracker) return;
    const first = Number(batch.messages[0]?.offset ?? -1);
    if (tracker.next >= 0 && first > tracker.next) {
      await this.#wait(this.#options.onJump({ topic, partition, from: tracker.next, to: first }), heartbeat);
      if (this.#stopping) return;
    }
    const records: FetchedRecord[] = [];
    for (const message of batch.messages) {
      const tracked = tracker.admit(Number(message.offset));
      if (tracked) records.push({ topic, partition, message, tracked, done: () => this.#done(tracked) });
    }
    if (records.length > 0) this.#options.deliver(records);
    resolveOffset(batch.lastOffset());
    for (let room = this.#options.room(); room && !this.#stopping; room = this.#options.room())
      await this.#wait(room, heartbeat);
    if (this.#options.paceMs > 0 && !this.#stopping) await (this.#pace ??= this.#paced());
  }

  async #paced(): Promise<void> {
    const over = Promise.withResolvers<void>();
    const timer = setTimeout(over.resolve, this.#options.paceMs);
    await Promise.race([over.promise, this.#released.promise]);
    clearTimeout(timer);
    this.#pace = null;
  }

  #done(tracked: TrackedRecord): void {
    tracked.done();
    if (!this.#options.startAt) this.#commits.soon();
  }

  /** @throws what a heartbeat throws when the group rebalances; kafkajs then rejoins */
  async #wait(condition: Promise<void>, heartbeat: () => Promise<void>): Promise<void> {
    let over = false;
    const met = condition.then(() => {
      over = true;
    });
    while (!over) {
      const tick = Promise.withResolvers<void>();
      const timer = setTimeout(tick.resolve, this.#options.timings.heartbeatMs);
      await Promise.race([met, tick.promise, this.#released.promise]);
      clearTimeout(timer);
      if (this.#stopping && condition !== this.#released.promise) return;
      if (!over) await heartbeat();
    }
  }
}

const keyOf = (topic: string, partition: number): string => `${topic}/${partition}`;
