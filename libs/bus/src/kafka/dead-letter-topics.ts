import type { Admin, Producer } from 'kafkajs';
import { dlqTopic } from '#contracts';
import { CountersignError } from '#kernel';
import { silentLog } from '../bus-log.port.ts';
import type { DeadLetterDesk, DeadLetterFilter, StoredDeadLetter } from '../dead-letter-store.port.ts';
import { checkBrokers } from './broker-check.ts';
import { createClient } from './kafka-client.ts';
import { partitioner } from './partitioner.ts';
import { readLetter } from './record-headers.ts';
import { TopicReader, type TopicRecord } from './topic-reader.ts';

/**
 * The dead letters of an installation on Kafka: the topics `<topic>.dlq`.
 * L1 a letter is named by its place, `<topic>.dlq/<partition>/<offset>`, which never changes;
 * L2 a replay is recorded by a mark in the same topic after the record was sent: a crash between the two, or two operators
 *    at once, cost a repetition, which every consumer bears (B2), never a loss;
 * L3 the record goes back to the partition that it came from, so that it meets the others of its run.
 */
export class DeadLetterTopics implements DeadLetterDesk {
  readonly #reader: TopicReader;
  readonly #admin: Admin;
  readonly #producer: Producer;

  private constructor(brokers: readonly string[]) {
    const client = createClient({ brokers, clientId: 'countersign-dlq', log: silentLog });
    this.#reader = new TopicReader(brokers);
    this.#admin = client.admin();
    this.#producer = client.producer({ createPartitioner: partitioner, allowAutoTopicCreation: false });
  }

  /** @throws InfrastructureError when no broker answers */
  static async open(brokers: readonly string[]): Promise<DeadLetterTopics> {
    await checkBrokers(brokers);
    const desk = new DeadLetterTopics(brokers);
    await desk.#admin.connect();
    return desk;
  }

  async list({ group, topic, limit = 100, open = false }: DeadLetterFilter = {}): Promise<StoredDeadLetter[]> {
    const topics = topic === undefined ? (await this.#admin.listTopics()).filter(isDlq) : [dlqTopic(topic)];
    const letters: StoredDeadLetter[] = [];
    for (const name of topics.sort()) letters.push(...(await this.#lettersOf(name)));
    return letters
      .filter((letter) => (group === undefined || letter.group === group) && !(open && letter.replayedAt !== null))
      .sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
      .slice(0, limit);
  }

  async find(id: string): Promise<StoredDeadLetter | null> {
    const place = ID.exec(id);
    if (!place) return null;
    return (await this.#lettersOf(place[1]!)).find((letter) => letter.id === id) ?? null;
  }

  async replay(id: string): Promise<boolean> {
    const letter = await this.find(id);
    if (!letter)
      throw new CountersignError('NOT_FOUND', `There is no dead letter ${id}; "dlq list" tells which there are.`);
    if (letter.replayedAt !== null) return false;
    const partitions = (await this.#admin.fetchTopicOffsets(letter.topic)).length;
    await this.#producer.connect();
    await this.#producer.send({
      topic: letter.topic,
      acks: -1,
      messages: [
        {
          key: letter.key,
          value: letter.value,
          headers: letter.headers,
          ...(letter.partition < partitions ? { partition: letter.partition } : {}),
        },
      ],
    });
    const mark = { key: id, value: null, headers: { [REPLAYED]: id } };
    await this.#producer.send({ topic: ID.exec(id)![1]!, acks: -1, messages: [mark] });
    return true;
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#admin.disconnect(), this.#producer.disconnect()]);
  }

  async #lettersOf(topic: string): Promise<StoredDeadLetter[]> {
    const letters: Omit<StoredDeadLetter, 'replayedAt'>[] = [];
    const replayed = new Map<string, string>();
    for await (const record of this.#reader.read(topic)) {
      const mark = record.headers[REPLAYED]?.toString('utf8');
      if (mark !== undefined) replayed.set(mark, timeOf(record));
      const letter = readLetter(record.key, record.value, record.headers);
      if (letter) letters.push({ ...letter, id: `${topic}/${record.partition}/${record.offset}`, at: timeOf(record) });
    }
    return letters.map((letter) => ({ ...letter, replayedAt: replayed.get(letter.id) ?? null }));
  }
}

const REPLAYED = 'countersign-replayed';
const ID = /^([\w.-]+\.dlq)\/\d+\/\d+$/;
const isDlq = (topic: string): boolean => topic.endsWith(dlqTopic(''));
const timeOf = (record: TopicRecord): string => new Date(record.timestamp).toISOString();
