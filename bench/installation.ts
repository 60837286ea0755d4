import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { freePort, SERVICE_NAMES, startEmbeddedPostgres, type Environment } from '#runtime';
import { NODE_FLAGS, startServices, type RunningServices } from '../apps/cli/src/supervisor/start-services.ts';
import { openStack } from '../tools/stack/stack.ts';
import { STATEMENT_SETTINGS } from './load/statements.ts';

export type Mode = 'embedded' | 'stack';

/** What is measured, apart from the load generator and the effect sink. */
export interface BenchInstallation {
  /** POST {callKey, amount}. */
  readonly url: string;
  readonly databaseUrl: string;
  /** Root pids whose CPU counts, children included: services, PostgreSQL, Redis, broker. */
  pids(): Readonly<Record<string, number[]>>;
  readonly sinkUrl: string;
  close(): Promise<void>;
}

export interface BenchOptions {
  readonly mode: Mode;
  /** Of a sink that runs already; absent = one of our own. */
  readonly sinkUrl?: string | undefined;
  /** Of each Kafka topic; bounds the replicas of a service, and each costs every request to the broker something. */
  readonly partitions: number;
  readonly say: (line: string) => void;
}

const here = import.meta.dirname;

export async function openBench({ mode, sinkUrl, partitions, say }: BenchOptions): Promise<BenchInstallation> {
  // Below /var/tmp: on a disk, and a place where the database's user can walk to.
  const directory = mkdtempSync(path.join('/var/tmp', 'countersign-bench-'));
  chmodSync(directory, 0o755);
  const closers: (() => Promise<void> | void)[] = [() => rmSync(directory, { recursive: true, force: true })];
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    let infrastructure: { env: Environment; databaseUrl: string; pids: Record<string, number[]> };
    if (mode === 'embedded') {
      const postgres = await startEmbeddedPostgres({
        directory: path.join(directory, 'postgres'),
        settings: STATEMENT_SETTINGS,
      });
      closers.push(() => postgres.stop());
      const databaseUrl = postgres.url('postgres');
      infrastructure = {
        databaseUrl,
        env: { COUNTERSIGN_DATABASE_URL: databaseUrl },
        pids: { postgres: [postgres.pid] },
      };
    } else {
      const stack = await openStack({ say, signals: 'leave', postgresSettings: STATEMENT_SETTINGS });
      closers.push(() => stack.close());
      const pids: Record<string, number[]> = {};
      for (const [name, part] of Object.entries(stack.parts)) if (part.pid !== undefined) pids[name] = [part.pid];
      infrastructure = {
        databaseUrl: stack.databaseUrl,
        env: {
          COUNTERSIGN_KAFKA_BROKERS: stack.kafkaBrokers,
          COUNTERSIGN_REDIS_URL: stack.redisUrl,
          COUNTERSIGN_KAFKA_PARTITIONS: String(partitions),
          COUNTERSIGN_DATABASE_URL: stack.databaseUrl,
        },
        pids,
      };
    }
    const sink = sinkUrl === undefined ? await startSink() : { url: sinkUrl, stop: () => undefined };
    closers.push(() => sink.stop());
    const port = await freePort();
    const services = await startServices({
      names: mode === 'stack' ? SERVICE_NAMES : ['all-in-one'],
      env: {
        PATH: process.env.PATH,
        ...infrastructure.env,
        COUNTERSIGN_DEV: '1',
        COUNTERSIGN_LOG_LEVEL: 'warn',
        COUNTERSIGN_HTTP_PORT: String(port),
        COUNTERSIGN_WORKSPACES: path.join(here, 'workspace'),
        COUNTERSIGN_TOOL_ENV: 'BENCH_SINK_URL',
        BENCH_SINK_URL: sink.url,
        NODE_ENV: 'production',
        ...(process.env.BENCH_NODE_OPTIONS ? { NODE_OPTIONS: process.env.BENCH_NODE_OPTIONS } : {}),
      },
      logDirectory: process.env.BENCH_LOGS ?? path.join(directory, 'logs'),
      command: (name) => [
        ...NODE_FLAGS,
        name === 'all-in-one' || name === 'gateway'
          ? path.join(here, `services/${name}.js`)
          : path.join(here, `../apps/${name}/src/main.js`),
      ],
    });
    closers.push(() => services.stop());
    return {
      url: `http://127.0.0.1:${port}/bench/calls`,
      databaseUrl: infrastructure.databaseUrl,
      sinkUrl: sink.url,
      pids: () => ({ ...infrastructure.pids, ...servicePids(services) }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const servicePids = (services: RunningServices): Record<string, number[]> =>
  Object.fromEntries(services.list().map(({ name, pid }) => [name, pid === undefined ? [] : [pid]]));

async function startSink(): Promise<{ url: string; stop(): Promise<void> }> {
  const child: ChildProcess = spawn(process.execPath, [path.join(here, 'load/effect-sink.js')], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const port = await new Promise<string>((resolve, reject) => {
    child.stdout!.once('data', (data: Buffer) => resolve(data.toString().trim()));
    child.once('exit', (code) => reject(new Error(`the effect sink ended (${code})`)));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
