import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createBus, type Bus } from '#bus';
import { allTopics, CATALOGUE, outgoing, type Message, type MessageType } from '#contracts';
import { freePort, SERVICE_NAMES } from '#runtime';
import { freshDatabase } from '../../libs/persistence/testing/fresh-database.ts';
import { startServices, type ProcessCommand, type RunningServices } from '../../apps/cli/src/supervisor/start-services.ts';
import type { System } from './system.ts';
import type { World } from './world.ts';

export interface StackSystem extends System {
  readonly services: RunningServices;
}

/** Each service as a process of its own, from the built tree, on the real Kafka, Redis and PostgreSQL of the test run. */
export async function openStackSystem(world: World, command?: ProcessCommand): Promise<StackSystem> {
  const brokers = process.env.TEST_KAFKA_BROKERS!;
  const fresh = await freshDatabase();
  const logs = mkdtempSync(path.join(os.tmpdir(), 'countersign-logs-'));
  chmodSync(logs, 0o755);
  const seen: { topic: string; message: Message }[] = [];
  const bus = await listen(brokers, seen);
  const port = await freePort();
  const services = await startServices({
    names: SERVICE_NAMES,
    env: {
      PATH: process.env.PATH,
      ...world.env,
      COUNTERSIGN_DATABASE_URL: fresh.url,
      COUNTERSIGN_KAFKA_BROKERS: brokers,
      COUNTERSIGN_REDIS_URL: process.env.TEST_REDIS_URL,
      COUNTERSIGN_HTTP_PORT: String(port),
      COUNTERSIGN_LOG_LEVEL: 'warn',
    },
    logDirectory: logs,
    ...(command ? { command } : {}),
  });
  return {
    gateway: `http://127.0.0.1:${port}`, databaseUrl: fresh.url, sinkUrl: world.sink.url, incidentsUrl: world.incidentsUrl, seen, services,
    publish: (topic, message) => bus.publish([outgoing(topic, message)]),
    async close() {
      await services.stop();
      await bus.drain();
      await bus.close();
      await fresh.drop();
      rmSync(logs, { recursive: true, force: true });
    },
  };
}

/** A plain member of the bus that sees everything from now on. */
async function listen(brokers: string, seen: { topic: string; message: Message }[]): Promise<Bus> {
  const bus = await createBus({
    kind: 'kafka', brokers: brokers.split(','), clientId: 'test', topics: allTopics(['default']), partitions: 6,
    onFatal: (error) => { throw error; },
  });
  bus.subscribe({
    group: `test-${process.pid}-${Date.now()}`,
    topics: allTopics(['default']).filter((topic) => topic !== 'audit.events'),
    from: 'latest',
    accepts: Object.keys(CATALOGUE) as MessageType[],
    reduce: async (batch) => {
      for (const { message, delivery } of batch) seen.push({ topic: delivery.topic, message });
    },
  });
  await bus.start();
  return bus;
}
