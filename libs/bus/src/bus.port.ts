import type { Message, MessageType, OutgoingMessage } from '#contracts';

/**
 * The bus: two interfaces, two adapters (Kafka, in process), one conformance suite.
 *
 * B1  `publish` resolves only when the messages survive the death of any process: Kafka acks=all; in process,
 *     when every subscribed group has handled (and so committed) them or put them into the dead letters.
 * B2  Delivery is at least once; within a key, in order of publishing (unless redelivered).
 * B3  A batch counts as done when `reduce` resolves; offsets move to the highest contiguous done one.
 * B4  One bad message never stops the others: undecodable or refused → dead letters at once; failing → `.retry`
 *     with backoff, bounded attempts, then dead letters, with raw key, value, headers and cause.
 * B5  While the infrastructure is away (InfrastructureError) work is held and tried again in place, not counted.
 * B6  Bytes pass, never references.
 */
export interface Publisher {
  publish(messages: readonly OutgoingMessage[]): Promise<void>;
}

/** Raw coordinates of a delivered record. */
export interface Delivery {
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, Buffer>>;
  /** 1 for the first delivery to the handler. */
  readonly attempt: number;
}

export interface Incoming<T extends MessageType = MessageType> {
  readonly message: Message<T>;
  readonly delivery: Delivery;
}

/**
 * One consumer group's reducer. It gets batches of decoded messages of the accepted types (others of the catalogue
 * are skipped), from all its topics together, one batch at a time unless `concurrency` allows more.
 * It must be idempotent. It may throw: the bus then isolates the failing message by handing them over one by one.
 */
export interface ConsumerSpec<T extends MessageType = MessageType> {
  readonly group: string;
  readonly topics: readonly string[];
  /** `latest` groups belong to one process (a gateway's waiters) and are not durable. */
  readonly from: 'earliest' | 'latest';
  readonly accepts: readonly T[];
  /** Batches in flight at once; default 1. */
  readonly concurrency?: number;
  /** Messages in a batch; default 256. */
  readonly maxBatch?: number;
  /**
   * Not on a call's path (views, audit): one Kafka consumer for all topics, and batches that begin at least `paceMs`
   * apart. The first comes at once; under load few large ones come instead of many small ones.
   */
  readonly offPath?: { readonly paceMs: number };
  /**
   * Records were deleted before this group read them. Nothing that comes after them is handed over until this resolves;
   * it may be told the same again. While the infrastructure is away it is tried again, as a batch is (B5).
   */
  onGap?(gaps: readonly OffsetGap[]): Promise<void>;
  reduce(batch: readonly Incoming<T>[]): Promise<void>;
}

/** Offsets of one partition that are there no more. */
export interface OffsetGap {
  readonly topic: string;
  readonly partition: number;
  /** The first that was not read; null = unknown, some or all of those before `to` may have been read. */
  readonly from: number | null;
  /** The first that is there. */
  readonly to: number;
}

export interface Bus extends Publisher {
  /** Registers a consumer; before `start`. */
  subscribe<T extends MessageType>(spec: ConsumerSpec<T>): void;
  /** Connects, checks (broker API versions, topics) and begins to deliver. */
  start(): Promise<void>;
  /** Stops admitting, finishes what is in work, commits offsets. */
  drain(): Promise<void>;
  close(): Promise<void>;
  /** False while the broker is lost: readiness falls. */
  healthy(): boolean;
}

export interface DeadLetter {
  readonly group: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, Buffer>>;
  readonly handlerAttempts: number;
  readonly code: string;
  readonly cause: string;
}
