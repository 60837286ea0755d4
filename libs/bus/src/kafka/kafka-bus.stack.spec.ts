import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Kafka, logLevel } from 'kafkajs';
import { dlqTopic } from '#contracts';
import { startKafka } from '../../../../tools/stack/kafka.ts';
import { busContract } from '../../testing/bus-contract.ts';
import type { DeadLetter } from '../bus.port.ts';
import { KafkaBus } from './kafka-bus.ts';
import { plainHeaders, readLetter } from './record-headers.ts';

const features = { keepsMessages: true, highWater: true, members: true, brokerRestart: true };

/** A broker of its own: one case restarts it. */
busContract('Kafka', features, async () => {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'countersign-bus-'));
  const broker = await startKafka({ directory });
  const brokers = broker.brokers.split(',');
  const client = new Kafka({ brokers, clientId: 'bus-contract', logLevel: logLevel.NOTHING });
  const [admin, producer] = [client.admin(), client.producer({ createPartitioner: () => () => 0 })];
  await Promise.all([admin.connect(), producer.connect()]);

  return {
    open: async (options = {}) => new KafkaBus({ brokers, clientId: 'bus-contract', partitions: 3, ...options }),
    put: async (_bus, records) => {
      const topic = records[0]!.topic;
      await producer.send({
        topic,
        messages: records.map(({ key, value, headers = {} }) => ({ key, value, headers })),
      });
    },
    letters: (topic) => readAll(client, admin, dlqTopic(topic)),
    committed: async (group, topic) => {
      const [found] = await admin.fetchOffsets({ groupId: `${group}.${topic}`, topics: [topic] });
      return found!.partitions.reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0);
    },
    restartBroker: () => broker.restart(),
    close: async () => {
      await Promise.allSettled([admin.disconnect(), producer.disconnect()]);
      await broker.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
});

let readers = 0;

/** Reads a dead-letter topic from its beginning to its present end. */
async function readAll(client: Kafka, admin: ReturnType<Kafka['admin']>, topic: string): Promise<DeadLetter[]> {
  const [partition] = await admin.fetchTopicOffsets(topic).catch(() => []);
  const end = Number(partition?.high ?? 0);
  if (end === 0) return [];
  const letters: DeadLetter[] = [];
  const consumer = client.consumer({ groupId: `letters-${process.pid}-${++readers}`, maxWaitTimeInMs: 50 });
  await consumer.subscribe({ topic, fromBeginning: true });
  const done = Promise.withResolvers<void>();
  await consumer.run({
    eachMessage: async ({ message }) => {
      letters.push(readLetter(message.key, message.value, plainHeaders(message.headers))!);
      if (letters.length === end) done.resolve();
    },
  });
  await done.promise;
  await consumer.disconnect();
  return letters;
}
