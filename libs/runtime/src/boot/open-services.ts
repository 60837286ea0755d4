import { BUS_SCHEMA, createBus, PostgresDeadLetters, type Bus } from '#bus';
import { allTopics } from '#contracts';
import { CountersignError } from '#kernel';
import { createLocks, type LockPort } from '#locks';
import { Database, DatabaseClock, migrate, Outbox, readMigrations } from '#persistence';
import type { ServiceContext, ServiceDoor, ServiceName, ServiceParts } from '../door.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../embedded/embedded-postgres.ts';
import { startInternalServer, type InternalServer } from '../http/internal-server.ts';
import { ServiceReads } from '../http/reads.ts';
import { createLog, errorFields, type Log } from '../log.ts';
import { platformSettings, SERVICE_NAMES, type PlatformSettings } from '../platform.settings.ts';
import { CLIENT_SETTING_NAMES, SERVICE_SETTING_NAMES } from '../service-settings.ts';
import { resolveSettings, type Environment, type SettingsShape } from '../settings.ts';
import { armFaults } from './arm-faults.ts';
import { checkConsumers, checkPools } from './boot-checks.ts';
import { checkDatabase } from './check-database.ts';
import { instanceName, isGoneInstance } from './instance-name.ts';
import type { NestDoor } from './nest-app.ts';

/**
 * Opens services behind their doors in this process, and closes them in the order that loses nothing.
 *
 * R1 settings, broker, database, migrations and the fit of the doors are checked before anything is delivered;
 * R2 every consumer is subscribed before the bus starts, the bus before workers, HTTP last;
 * R3 drain: not ready → no new HTTP → workers → bus (work in hand) → outboxes → connections → the embedded database.
 */
export interface RunningServices {
  readonly settings: PlatformSettings;
  readonly endpoints: { readonly http: string | null; readonly internal: string; readonly postgres: string };
  /** Pid of the embedded PostgreSQL, if this process started it. */
  readonly postgresPid: number | null;
  notReady(): string[];
  /** Idempotent. */
  drain(): Promise<void>;
}

interface OpenService {
  readonly name: ServiceName;
  readonly parts: ServiceParts;
  readonly database: Database;
  readonly outbox: Outbox;
  readonly log: Log;
}

export interface OpenOptions {
  /** Called when the bus is lost for good: the process should drain and exit. */
  readonly onFatal: (error: unknown) => void;
  /** Wraps the bus; only tests give one. */
  readonly wrapBus?: (bus: Bus) => Bus;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- doors differ in their settings; each gets its own
export type AnyDoor = ServiceDoor<any>;

export async function openServices(
  doors: readonly AnyDoor[],
  env: Environment,
  options: OpenOptions,
): Promise<RunningServices> {
  const shape: SettingsShape = Object.assign(
    {},
    platformSettings,
    ...doors.map((door) => door.settings as SettingsShape),
  ) as SettingsShape;
  const settings = resolveSettings(shape, env, [
    ...DATABASE_URLS,
    ...SERVICE_SETTING_NAMES,
    ...CLIENT_SETTING_NAMES,
  ]) as PlatformSettings;
  checkMode(doors, settings);
  checkPools(settings);
  if (settings.COUNTERSIGN_FAULT_FILE !== undefined) armFaults(settings.COUNTERSIGN_FAULT_FILE);
  const closers: (() => Promise<void>)[] = [];
  const rollback = async (): Promise<void> => {
    for (const close of closers.reverse()) await close().catch(() => undefined);
  };
  try {
    return await open(doors, env, settings, options, closers);
  } catch (error) {
    await rollback();
    throw error;
  }
}

const databaseUrlOf = (name: ServiceName): string =>
  `COUNTERSIGN_${name.toUpperCase().replaceAll('-', '_')}_DATABASE_URL`;
/** Each service may have a database of its own. */
const DATABASE_URLS = SERVICE_NAMES.map(databaseUrlOf);

/** The settings that name a database, each address once. */
function givenDatabases(doors: readonly AnyDoor[], env: Environment): (readonly [string, string])[] {
  const byUrl = new Map<string, string>();
  for (const name of ['COUNTERSIGN_DATABASE_URL', ...doors.map((door) => databaseUrlOf(door.name))]) {
    const url = env[name];
    if (url && !byUrl.has(url)) byUrl.set(url, name);
  }
  return [...byUrl].map(([url, name]) => [name, url] as const);
}

function checkMode(doors: readonly AnyDoor[], settings: PlatformSettings): void {
  if (settings.COUNTERSIGN_FAULT_FILE !== undefined && !settings.COUNTERSIGN_DEV)
    throw new CountersignError(
      'INVALID_ARGS',
      'COUNTERSIGN_FAULT_FILE kills this process: it is for fault tests, with COUNTERSIGN_DEV=1 alone. Unset it.',
    );
  const complete = SERVICE_NAMES.every((name) => doors.some((door) => door.name === name));
  if (!complete && settings.COUNTERSIGN_KAFKA_BROKERS.length === 0) {
    throw new CountersignError(
      'INVALID_ARGS',
      'COUNTERSIGN_KAFKA_BROKERS is not set: without a broker all seven services must live in one process (apps/all-in-one).',
    );
  }
  if (!complete && settings.COUNTERSIGN_DATABASE_URL === undefined) {
    throw new CountersignError(
      'INVALID_ARGS',
      'COUNTERSIGN_DATABASE_URL is not set: the embedded PostgreSQL is for all services in one process only.',
    );
  }
}

async function open(
  doors: readonly AnyDoor[],
  env: Environment,
  settings: PlatformSettings,
  options: OpenOptions,
  closers: (() => Promise<void>)[],
): Promise<RunningServices> {
  const log = createLog(doors.length === 1 ? doors[0]!.name : 'all-in-one', settings.COUNTERSIGN_LOG_LEVEL);
  const instance = instanceName();
  let postgres: EmbeddedPostgres | undefined;
  if (settings.COUNTERSIGN_DATABASE_URL === undefined) {
    postgres = await startEmbeddedPostgres({ directory: settings.COUNTERSIGN_DATA_DIR });
    closers.push(() => postgres!.stop());
  }
  const baseUrl = settings.COUNTERSIGN_DATABASE_URL ?? postgres!.url('postgres');
  await Promise.all(givenDatabases(doors, env).map(([name, url]) => checkDatabase(name, url)));
  const connect = (schema: string, url: string, max?: number): Database => {
    const database = new Database({ url, schema, ...(max === undefined ? {} : { max }) });
    closers.push(() => database.close());
    return database;
  };
  const { bus, replays } = await openBus(settings, connect, baseUrl, log, options, instance);
  closers.push(() => bus.close());
  const locks = await openLocks(settings, connect, baseUrl);
  closers.push(() => locks.close());
  const reads = new ServiceReads(settings);
  const services: OpenService[] = await Promise.all(
    doors.map((door) => openService(door, { env, settings, bus, locks, reads, instance, connect, baseUrl })),
  );
  checkConsumers(services, doors.length === SERVICE_NAMES.length);

  let draining = false;
  let ready = false;
  const notReady = (): string[] => [
    ...(ready ? [] : ['starting']),
    ...(draining ? ['draining'] : []),
    ...(bus.healthy() ? [] : ['the bus is lost']),
  ];
  const { openNestApp } = await import('./nest-app.ts'); // what never opens a service, such as the command, does without
  const apps: NestDoor[] = [];
  for (const service of services)
    apps.push(await openNestApp(service.name, service.parts, { bus, settings, notReady }));
  await bus.start();
  replays?.start();
  for (const service of services) {
    service.outbox.start();
    for (const worker of service.parts.workers ?? []) await worker.start();
  }
  const internal: InternalServer = await startInternalServer({
    host: settings.COUNTERSIGN_INTERNAL_HOST,
    port: settings.COUNTERSIGN_INTERNAL_PORT,
    token: settings.COUNTERSIGN_INTERNAL_TOKEN,
    reads,
    notReady,
  });
  closers.push(() => internal.close());
  let http: string | null = null;
  for (const app of apps) http = (await app.listen()) ?? http;
  ready = true;
  if (!locks.healthy())
    log.warn({}, 'the lock server is away: writes to one resource go on with the holds of the journal alone');
  log.info({ instance, services: doors.map((d) => d.name).join(','), http, internal: internal.url }, 'started');

  let drained: Promise<void> | undefined;
  const drain = (): Promise<void> =>
    (drained ??= (async () => {
      draining = true;
      log.info({}, 'draining');
      const step = (name: string, work: Promise<unknown>): Promise<unknown> =>
        work.catch((error: unknown) => log.error({ step: name, ...errorFields(error) }, 'drain step failed'));
      for (const app of apps) await step('http', app.close());
      for (const service of services)
        for (const worker of service.parts.workers ?? []) await step('worker', worker.drain());
      await step('bus', bus.drain());
      for (const service of services) await step('outbox', service.outbox.drain());
      if (replays) await step('replays', replays.drain());
      for (const close of closers.reverse()) await step('close', close());
      log.info({}, 'stopped');
    })());
  return {
    settings,
    notReady,
    drain,
    endpoints: { http, internal: internal.url, postgres: baseUrl },
    postgresPid: postgres?.pid ?? null,
  };
}

/** Before the instance, in what the broker is told. */
const CLIENT = 'countersign-';

type Connect = (schema: string, url: string, max?: number) => Database;

async function openBus(
  settings: PlatformSettings,
  connect: Connect,
  url: string,
  log: Log,
  options: OpenOptions,
  instance: string,
): Promise<{ readonly bus: Bus; readonly replays: Outbox | null }> {
  const wrap = options.wrapBus ?? ((inner: Bus) => inner);
  const brokers = settings.COUNTERSIGN_KAFKA_BROKERS;
  if (brokers.length > 0) {
    const bus = await createBus({
      kind: 'kafka',
      brokers,
      clientId: CLIENT + instance,
      isGone: (clientId) => clientId !== CLIENT + instance && isGoneInstance(clientId.slice(CLIENT.length)),
      topics: allTopics(settings.COUNTERSIGN_POOLS),
      partitions: settings.COUNTERSIGN_KAFKA_PARTITIONS,
      onFatal: options.onFatal,
      log,
    });
    return { bus: wrap(bus), replays: null };
  }
  const database = connect(BUS_SCHEMA, url, 2);
  const deadLetters = new PostgresDeadLetters(database);
  await deadLetters.migrate();
  const bus = wrap(await createBus({ kind: 'memory', deadLetters, log }));
  // What an operator replays by the command line is a row there: another process cannot reach the bus of this one.
  const replays = new Outbox({
    database,
    publish: (messages) => bus.publish(messages),
    onError: (error) => log.warn(errorFields(error), 'a replay failed; the sweeper sends it again'),
  });
  return { bus, replays };
}

async function openLocks(settings: PlatformSettings, connect: Connect, url: string): Promise<LockPort> {
  return settings.COUNTERSIGN_REDIS_URL === undefined
    ? await createLocks({ kind: 'postgres', database: connect('locks', url, 4) })
    : await createLocks({ kind: 'redis', url: settings.COUNTERSIGN_REDIS_URL });
}

interface Shared {
  readonly env: Environment;
  readonly settings: PlatformSettings;
  readonly bus: Bus;
  readonly locks: LockPort;
  readonly reads: ServiceReads;
  readonly instance: string;
  readonly connect: Connect;
  readonly baseUrl: string;
}

async function openService(door: AnyDoor, shared: Shared): Promise<OpenService> {
  const log = createLog(door.name, shared.settings.COUNTERSIGN_LOG_LEVEL);
  const url = shared.env[databaseUrlOf(door.name)] ?? shared.baseUrl;
  const database = shared.connect(
    door.name.replaceAll('-', '_'),
    url,
    shared.settings.COUNTERSIGN_DATABASE_CONNECTIONS,
  );
  await migrate(database, readMigrations(door.migrations));
  const clock = await DatabaseClock.open(database);
  const outbox = new Outbox({
    database,
    publish: (messages) => shared.bus.publish(messages),
    onError: (error) => log.warn(errorFields(error), 'publishing failed; the sweeper sends it again'),
  });
  const context: ServiceContext = {
    settings: shared.settings as never,
    environment: shared.env,
    database,
    outbox,
    bus: shared.bus,
    locks: shared.locks,
    reads: shared.reads,
    clock,
    log,
    instance: shared.instance,
  };
  const parts = (await door.open(context as never)) as ServiceParts;
  if (parts.reads) shared.reads.register(door.name, parts.reads);
  const workers = [...(parts.workers ?? []), clock];
  return { name: door.name, parts: { ...parts, workers }, database, outbox, log };
}
