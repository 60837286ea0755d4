import type { Bus, ConsumerSpec, Incoming } from '#bus';
import { decodeMessage, encodeMessage, type Message, type OutgoingMessage } from '#contracts';
import { InfrastructureError, systemClock, type Clock } from '#kernel';
import type { LockPort } from '#locks';
import { Database, migrate, Outbox, readMigrations } from '#persistence';
import { freshDatabase, type FreshDatabase } from '../../persistence/testing/fresh-database.ts';
import type { Reads, ServiceContext, ServiceDoor, ServiceParts } from '../src/door.ts';
import { createLog, type Log } from '../src/log.ts';
import { resolveSettings, type SettingsShape } from '../src/settings.ts';

/** One service behind its door, on a database of its own, with a bus that records what is published. */
export interface ServiceHarness {
  readonly parts: ServiceParts;
  readonly database: Database;
  readonly url: string;
  readonly outbox: Outbox;
  readonly published: { readonly topic: string; readonly message: Message; readonly raw: OutgoingMessage }[];
  /** Hands the messages, as one batch, to every consumer of the topic; resolves when what they emitted is recorded. */
  deliver(topic: string, ...messages: Message[]): Promise<void>;
  /** What was published since the last look. */
  take(): { readonly topic: string; readonly message: Message }[];
  read<T>(question: string, args: object): Promise<T>;
  /** Waits for what the service emitted meanwhile. */
  settle(): Promise<void>;
  startWorkers(): Promise<void>;
  close(): Promise<void>;
}

export interface HarnessOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** `service.question` → answer; an Error is thrown. */
  readonly reads?: Readonly<Record<string, (args: never) => unknown>>;
  readonly locks?: LockPort;
  readonly clock?: Clock;
  readonly log?: Log;
  /** Another harness's database, for two replicas of one service. */
  readonly url?: string;
  readonly instance?: string;
}

/** What every service may ask and few tests are about. */
const CALM: HarnessOptions['reads'] = { 'gateway.quarantined': () => [] };

const freeLocks: LockPort = {
  acquire: () =>
    Promise.resolve({ kind: 'held', handle: { lost: new AbortController().signal, release: () => Promise.resolve() } }),
  healthy: () => true,
  close: () => Promise.resolve(),
};

export async function openService<S extends SettingsShape>(
  door: ServiceDoor<S>,
  options: HarnessOptions = {},
): Promise<ServiceHarness> {
  const settings = resolveSettings(door.settings, options.env ?? {}); // may throw: nothing is open yet
  const fresh: FreshDatabase = options.url
    ? { url: options.url, drop: () => Promise.resolve() }
    : await freshDatabase();
  const database = new Database({ url: fresh.url, schema: door.name.replaceAll('-', '_') });
  await migrate(database, readMigrations(door.migrations));
  const published: ServiceHarness['published'] = [];
  const bus: Bus = {
    publish: (messages) => {
      for (const raw of messages) {
        const known = !raw.topic.startsWith('audit.');
        published.push({
          topic: raw.topic,
          message: known ? decodeMessage(raw.value) : (JSON.parse(raw.value.toString()) as Message),
          raw,
        });
      }
      return Promise.resolve();
    },
    subscribe: () => undefined,
    start: () => Promise.resolve(),
    drain: () => Promise.resolve(),
    close: () => Promise.resolve(),
    healthy: () => true,
  };
  const outbox = new Outbox({
    database,
    publish: (m) => bus.publish(m),
    onError: (error) => {
      throw error;
    },
  });
  const reads: Reads = {
    read: async <T>(service: string, question: string, args: object) => {
      const answer = { ...CALM, ...options.reads }[`${service}.${question}`];
      if (!answer) throw new InfrastructureError(`no fake for ${service}.${question}`);
      return (await answer(args as never)) as T;
    },
  };
  const context: ServiceContext<S> = {
    settings,
    environment: options.env ?? {},
    database,
    outbox,
    bus,
    reads,
    locks: options.locks ?? freeLocks,
    clock: options.clock ?? systemClock,
    log: options.log ?? createLog(door.name, process.env.TEST_LOG_LEVEL ?? 'silent'),
    instance: options.instance ?? `test-${Math.random().toString(36).slice(2)}`,
  };
  const parts = await Promise.resolve(door.open(context)).catch(async (error: unknown) => {
    await database.close();
    await fresh.drop();
    throw error;
  });
  let taken = 0;
  let offset = 0;
  return {
    parts,
    database,
    outbox,
    published,
    url: fresh.url,
    async deliver(topic, ...messages) {
      const batch = messages.map((value): Incoming => ({
        message: decodeMessage(encodeMessage(value)),
        delivery: {
          topic,
          partition: 0,
          offset: String(offset++),
          key: null,
          value: encodeMessage(value),
          headers: {},
          attempt: 1,
        },
      }));
      const consumers = parts.consumers.filter((c) => c.topics.includes(topic));
      if (consumers.length === 0) throw new Error(`${door.name} does not consume ${topic}`);
      for (const consumer of consumers as readonly ConsumerSpec[]) {
        const accepted = batch.filter((incoming) => consumer.accepts.includes(incoming.message.type));
        if (accepted.length > 0) await consumer.reduce(accepted);
      }
      await outbox.drain();
    },
    take() {
      const fresh = published.slice(taken);
      taken = published.length;
      return fresh;
    },
    async read<T>(question: string, args: object) {
      const answer = parts.reads?.[question];
      if (!answer) throw new Error(`${door.name} has no read question ${question}`);
      return (await answer(args as never)) as T;
    },
    settle: () => outbox.drain(),
    async startWorkers() {
      for (const worker of parts.workers ?? []) await worker.start();
    },
    async close() {
      for (const worker of parts.workers ?? []) await worker.drain();
      await outbox.drain();
      await database.close();
      await fresh.drop();
    },
  };
}

/** Waits for a condition instead of sleeping. @throws when it does not come true in time */
export async function until<T>(look: () => T | Promise<T>, timeoutMs = 20_000): Promise<NonNullable<T>> {
  for (const end = Date.now() + timeoutMs; ;) {
    const value = await look();
    if (value) return value as NonNullable<T>;
    if (Date.now() > end) throw new Error(`the condition did not come true in ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
