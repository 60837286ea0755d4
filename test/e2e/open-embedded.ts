import { outgoing, decodeMessage, type Message } from '#contracts';
import type { Bus } from '#bus';
import { openServices } from '#runtime';
import { freshDatabase } from '../../libs/persistence/testing/fresh-database.ts';
import { allDoors } from '../../apps/all-in-one/src/doors.ts';
import type { System } from './system.ts';
import type { World } from './world.ts';

/** All seven services in this process on a fresh database; the bus is listened to and can be published on. */
export async function openEmbedded(world: Omit<World, 'office'>): Promise<System> {
  const fresh = await freshDatabase();
  const seen: { topic: string; message: Message }[] = [];
  let bus!: Bus;
  const running = await openServices(
    allDoors,
    {
      ...world.env,
      COUNTERSIGN_DATABASE_URL: fresh.url,
      COUNTERSIGN_HTTP_PORT: '0',
      COUNTERSIGN_LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    },
    {
      onFatal: (error) => {
        throw error;
      },
      wrapBus: (inner) => {
        bus = listening(inner, seen);
        return bus;
      },
    },
  );
  return {
    gateway: running.endpoints.http!,
    databaseUrl: fresh.url,
    sinkUrl: world.sink.url,
    incidentsUrl: world.incidentsUrl,
    seen,
    publish: (topic, message) => bus.publish([outgoing(topic, message)]),
    async close() {
      await running.drain();
      await fresh.drop();
    },
  };
}

function listening(inner: Bus, seen: { topic: string; message: Message }[]): Bus {
  return {
    publish(messages) {
      for (const { topic, value } of messages)
        if (!topic.startsWith('audit.')) seen.push({ topic, message: decodeMessage(value) });
      return inner.publish(messages);
    },
    subscribe: (spec) => inner.subscribe(spec),
    start: () => inner.start(),
    drain: () => inner.drain(),
    close: () => inner.close(),
    healthy: () => inner.healthy(),
  };
}
