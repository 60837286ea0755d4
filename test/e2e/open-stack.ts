import { createBus, type Bus } from '#bus';
import { allTopics, CATALOGUE, outgoing, type Message, type MessageType } from '#contracts';
import type { ProcessCommand } from '../../apps/cli/src/supervisor/start-services.ts';
import { openProcesses } from './open-processes.ts';
import type { System } from './system.ts';
import type { World } from './world.ts';

/** Each service as a process of its own, on the real Kafka, Redis and PostgreSQL of the test run; the bus is watched. */
export async function openStackSystem(world: Omit<World, 'office'>, command?: ProcessCommand): Promise<System> {
  const seen: { topic: string; message: Message }[] = [];
  const bus = await listen(process.env.TEST_KAFKA_BROKERS!, seen);
  const processes = await openProcesses('stack', world, command);
  return {
    gateway: processes.gateway,
    databaseUrl: processes.databaseUrl,
    sinkUrl: world.sink.url,
    incidentsUrl: world.incidentsUrl,
    seen,
    publish: (topic, message) => bus.publish([outgoing(topic, message)]),
    async close() {
      await processes.close();
      await bus.drain();
      await bus.close();
    },
  };
}

/** A plain member of the bus that sees everything from now on. */
async function listen(brokers: string, seen: { topic: string; message: Message }[]): Promise<Bus> {
  const bus = await createBus({
    kind: 'kafka',
    brokers: brokers.split(','),
    clientId: 'test',
    topics: allTopics(['default']),
    partitions: 6,
    onFatal: (error) => {
      throw error;
    },
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
