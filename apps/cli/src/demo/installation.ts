import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { freePort, SERVICE_NAMES, startEmbeddedPostgres, type Environment } from '#runtime';
import { openStack } from '../../../../tools/stack/stack.ts';
import type { ServiceEvent } from '../supervisor/service-process.ts';
import { startServices } from '../supervisor/start-services.ts';

export type Mode = 'embedded' | 'stack';

/** Everything that this command started, as processes that are started again when they die. */
export interface Installation {
  readonly gateway: string;
  readonly kafka: string | null;
  readonly redis: string | null;
  readonly postgres: string;
  services(): { readonly name: string; readonly pid: number | null }[];
  close(): Promise<void>;
}

export interface InstallationOptions {
  readonly mode: Mode;
  readonly dataDir: string;
  /** What services get of the caller's shell. */
  readonly inherited: Environment;
  /** Of the embedded mode: a PostgreSQL that runs already. */
  readonly databaseUrl: string | undefined;
  /** Workspaces and what their tools need. */
  readonly env: Environment;
  readonly say: (line: string) => void;
  /** Starts what runs beside the services, as soon as PostgreSQL answers. What it returns ends that, after the services and before PostgreSQL. */
  readonly onDatabase: (postgres: string) => () => Promise<void>;
  readonly onEvent: (event: ServiceEvent) => void;
}

interface Infrastructure {
  readonly env: Environment;
  readonly kafka: string | null;
  readonly redis: string | null;
  readonly postgres: string;
  close(): Promise<void>;
}

export async function openInstallation(options: InstallationOptions): Promise<Installation> {
  const infrastructure = await (options.mode === 'stack'
    ? openRealStack(options.say)
    : openEmbedded(options.dataDir, options.databaseUrl));
  const endBeside = options.onDatabase(infrastructure.postgres);
  try {
    const httpPort = await freePort();
    const services = await startServices({
      names: options.mode === 'stack' ? SERVICE_NAMES : ['all-in-one'],
      env: {
        ...options.inherited,
        COUNTERSIGN_DEV: '1',
        COUNTERSIGN_LOG_LEVEL: 'info',
        COUNTERSIGN_HTTP_HOST: '127.0.0.1',
        COUNTERSIGN_HTTP_PORT: String(httpPort),
        ...infrastructure.env,
        ...options.env,
      },
      logDirectory: path.join(options.dataDir, 'logs'),
      onEvent: options.onEvent,
    });
    return {
      gateway: `http://127.0.0.1:${httpPort}`,
      kafka: infrastructure.kafka,
      redis: infrastructure.redis,
      postgres: infrastructure.postgres,
      services: () => services.list().map(({ name, pid }) => ({ name, pid: pid ?? null })),
      async close() {
        await services.stop();
        await endBeside();
        await infrastructure.close();
      },
    };
  } catch (error) {
    await endBeside();
    await infrastructure.close();
    throw error;
  }
}

async function openEmbedded(dataDir: string, databaseUrl: string | undefined): Promise<Infrastructure> {
  mkdirSync(dataDir, { recursive: true });
  if (databaseUrl !== undefined) {
    const env = { COUNTERSIGN_DATABASE_URL: databaseUrl };
    return { env, kafka: null, redis: null, postgres: databaseUrl, close: () => Promise.resolve() };
  }
  const postgres = await startEmbeddedPostgres({ directory: path.join(dataDir, 'postgres') });
  const url = postgres.url('postgres');
  return {
    env: { COUNTERSIGN_DATABASE_URL: url },
    kafka: null,
    redis: null,
    postgres: url,
    close: () => postgres.stop(),
  };
}

async function openRealStack(say: (line: string) => void): Promise<Infrastructure> {
  const stack = await openStack({ say, signals: 'leave' });
  return {
    env: {
      COUNTERSIGN_KAFKA_BROKERS: stack.kafkaBrokers,
      COUNTERSIGN_REDIS_URL: stack.redisUrl,
      COUNTERSIGN_DATABASE_URL: stack.databaseUrl,
    },
    kafka: stack.kafkaBrokers,
    redis: stack.redisUrl,
    postgres: stack.databaseUrl,
    close: () => stack.close(),
  };
}

/** A task of its own for each start, so that keys of an earlier start are not replayed. */
export const freshTask = (example: string): string =>
  `${example}-${createHash('sha256').update(`${process.pid}-${process.hrtime.bigint()}`).digest('hex').slice(0, 12)}`;
