import { randomUUID } from 'node:crypto';
import type { Admin, Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import { silentLog } from '../bus-log.port.ts';
import { checkBrokers } from './broker-check.ts';
import { createClient } from './kafka-client.ts';
import { plainHeaders } from './record-headers.ts';

/**
 * Reads a topic from its beginning to where it ended when the reading began.
 * T1 a group of its own, removed afterwards: nobody's position changes;
 * T2 a batch is handed over record by record, and the next one is fetched when it was taken: memory stays flat.
 */
export interface ReadTopicOptions {
  readonly brokers: readonly string[];
  readonly topic: string;
}

export interface TopicRecord {
  readonly partition: number;
  readonly offset: string;
  /** When the broker or producer stamped it, epoch milliseconds. */
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, Buffer>>;
}

interface HandedBatch {
  readonly records: readonly TopicRecord[];
  readonly taken: () => void;
}

const MAX_WAIT_MS = 200;

export class TopicReader {
  readonly #brokers: readonly string[];

  constructor(brokers: readonly string[]) {
    this.#brokers = brokers;
  }

  /** A topic that does not exist has no records. @throws InfrastructureError when no broker answers */
  async *read(topic: string): AsyncGenerator<TopicRecord> {
    await checkBrokers(this.#brokers);
    const client = createClient({ brokers: this.#brokers, clientId: 'countersign-reader', log: silentLog });
    const admin = client.admin();
    await admin.connect();
    try {
      const topics = await admin.listTopics();
      if (!topics.includes(topic)) return;
      const ends = await endsOf(admin, topic);
      if (ends.size > 0) yield* this.#consume(client, admin, topic, ends);
    } finally {
      await admin.disconnect();
    }
  }

  async *#consume(client: Kafka, admin: Admin, topic: string, ends: Map<number, bigint>): AsyncGenerator<TopicRecord> {
    const groupId = `countersign-reader-${randomUUID()}`;
    const consumer = client.consumer({ groupId, maxWaitTimeInMs: MAX_WAIT_MS, allowAutoTopicCreation: false });
    const handed = new Handover();
    consumer.on(consumer.events.CRASH, ({ payload: { error, restart } }) => {
      if (!restart) handed.fail(error);
    });
    try {
      await consumer.connect();
      await consumer.subscribe({ topics: [topic], fromBeginning: true });
      await consumer.run({ autoCommit: false, eachBatch: (payload) => handOver(payload, ends, handed) });
      while (ends.size > 0) {
        const { records, taken } = await handed.next();
        yield* records;
        taken();
      }
    } finally {
      handed.end();
      await stop(consumer, admin, groupId);
    }
  }
}

/** Partition → the offset after its last record; partitions without records are left out. */
async function endsOf(admin: Admin, topic: string): Promise<Map<number, bigint>> {
  const offsets = await admin.fetchTopicOffsets(topic);
  return new Map(
    offsets.flatMap(({ partition, low, high }) =>
      BigInt(high) > BigInt(low) ? [[partition, BigInt(high)] as const] : [],
    ),
  );
}

async function handOver({ batch }: EachBatchPayload, ends: Map<number, bigint>, handed: Handover): Promise<void> {
  const end = ends.get(batch.partition);
  if (end === undefined) return;
  const records = batch.messages
    .filter(({ offset }) => BigInt(offset) < end)
    .map((message) => ({
      partition: batch.partition,
      offset: message.offset,
      timestamp: Number(message.timestamp),
      key: message.key,
      value: message.value,
      headers: plainHeaders(message.headers),
    }));
  await handed.give(records, () => {
    if (BigInt(batch.lastOffset()) + 1n >= end) ends.delete(batch.partition);
  });
}

/** Batches wait here until they are read. */
class Handover {
  readonly #batches: HandedBatch[] = [];
  #wake = Promise.withResolvers<void>();
  #error: Error | null = null;
  #ended = false;

  give(records: readonly TopicRecord[], whenTaken: () => void): Promise<void> {
    if (this.#ended) return Promise.resolve();
    return new Promise((resolve) => {
      const taken = (): void => {
        whenTaken();
        resolve();
      };
      this.#batches.push({ records, taken });
      this.#wake.resolve();
    });
  }

  fail(error: Error): void {
    this.#error = error;
    this.#wake.resolve();
  }

  async next(): Promise<HandedBatch> {
    for (;;) {
      if (this.#error) throw this.#error;
      const batch = this.#batches.shift();
      if (batch) return batch;
      this.#wake = Promise.withResolvers();
      await this.#wake.promise;
    }
  }

  /** Whoever waits to be read goes on: nobody reads any more. */
  end(): void {
    this.#ended = true;
    for (const { taken } of this.#batches.splice(0)) taken();
  }
}

async function stop(consumer: Consumer, admin: Admin, groupId: string): Promise<void> {
  await consumer.disconnect().catch(() => undefined);
  await admin.deleteGroups([groupId]).catch(() => undefined); // an empty group goes by itself in time
}
