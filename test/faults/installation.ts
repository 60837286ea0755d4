import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startScriptedServer } from '#providers';
import { freePort, SERVICE_NAMES } from '#runtime';
import { startServices, type ProcessCommand } from '../../apps/cli/src/supervisor/start-services.ts';
import type { ProcessName, ServiceEvent } from '../../apps/cli/src/supervisor/service-process.ts';
import { playPlan } from '../e2e/plan.script.ts';
import { startCutProxy, type CutProxy } from './cut-proxy.ts';
import type { Mode } from './places.ts';

export interface SinkItem {
  readonly kind: string;
  readonly attempts: number;
  readonly applied: number;
}

/** Processes under test, on a PostgreSQL (and Kafka, Redis) that others may stop, with a sink that nobody does. */
export interface Installation {
  readonly mode: Mode;
  readonly gateway: string;
  readonly databaseUrl: string;
  readonly names: readonly ProcessName[];
  readonly proxy: CutProxy;
  sink(): Promise<Readonly<Record<string, SinkItem>>>;
  pid(name: ProcessName): number | undefined;
  /** `performance.now()` of each time that a process became ready. */
  readonly readyAt: ReadonlyMap<ProcessName, readonly number[]>;
  /** Gives an order to the process of that service. */
  order(name: ProcessName, text: string): void;
  /** Whether an order was carried out since the last one was given. */
  carriedOut(name: ProcessName): boolean;
  close(): Promise<void>;
}

export interface InstallationOptions {
  readonly mode: Mode;
  readonly databaseUrl: string;
  readonly kafkaBrokers?: string | undefined;
  readonly redisUrl?: string | undefined;
  readonly command?: ProcessCommand;
}

/** Short, so that what a dead process had in hand is taken over soon. */
const TIMES = { COUNTERSIGN_LEASE_MS: '4000', COUNTERSIGN_LEASE_MARGIN_MS: '500', COUNTERSIGN_SWEEP_MS: '500' };

export async function openInstallation(options: InstallationOptions): Promise<Installation> {
  const { mode } = options;
  const directory = mkdtempSync(path.join(os.tmpdir(), 'countersign-faults-'));
  chmodSync(directory, 0o755);
  const { child: sinkProcess, url: sinkUrl } = await startSink();
  const model = await startScriptedServer({ script: playPlan });
  const proxy = await startCutProxy(options.databaseUrl);
  const port = await freePort();
  const readyAt = new Map<ProcessName, number[]>();
  const onEvent = (event: ServiceEvent): void => {
    if (event.type === 'ready') readyAt.set(event.name, [...(readyAt.get(event.name) ?? []), performance.now()]);
  };
  const names: readonly ProcessName[] = mode === 'stack' ? SERVICE_NAMES : ['all-in-one'];
  const orderFile = (name: ProcessName): string => path.join(directory, `${name}.fault`);
  const closeWorld = async (): Promise<void> => {
    await proxy.close();
    await model.close();
    sinkProcess.kill('SIGKILL');
    if (process.env.FAULTS_KEEP_LOGS) process.stderr.write(`logs: ${directory}\n`);
    else rmSync(directory, { recursive: true, force: true });
  };
  const services = await startServices({
    names,
    env: {
      PATH: process.env.PATH,
      COUNTERSIGN_DEV: '1',
      COUNTERSIGN_WORKSPACES: path.join(import.meta.dirname, 'workspace'),
      COUNTERSIGN_TOOL_ENV: 'SINK_URL',
      SINK_URL: sinkUrl,
      COUNTERSIGN_OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'scripted',
      COUNTERSIGN_DATABASE_URL: proxy.url,
      ...(mode === 'stack'
        ? { COUNTERSIGN_KAFKA_BROKERS: options.kafkaBrokers, COUNTERSIGN_REDIS_URL: options.redisUrl }
        : {}),
      COUNTERSIGN_HTTP_PORT: String(port),
      COUNTERSIGN_LOG_LEVEL: 'warn',
      ...TIMES,
    },
    envFor: (name) => ({ COUNTERSIGN_FAULT_FILE: orderFile(name) }),
    logDirectory: path.join(directory, 'logs'),
    onEvent,
    readyTimeoutMs: 120_000,
    ...(options.command ? { command: options.command } : {}),
  }).catch(async (error: unknown) => {
    await closeWorld();
    throw error;
  });
  return {
    mode,
    gateway: `http://127.0.0.1:${port}`,
    databaseUrl: options.databaseUrl,
    names,
    proxy,
    readyAt,
    sink: async () => (await (await fetch(`${sinkUrl}/state`)).json()) as Record<string, SinkItem>,
    pid: (name) => services.list().find((service) => service.name === name)?.pid,
    order(name, text) {
      rmSync(`${orderFile(name)}.fired`, { force: true });
      writeFileSync(`${orderFile(name)}.new`, text);
      renameSync(`${orderFile(name)}.new`, orderFile(name)); // whole or not at all
    },
    carriedOut: (name) => existsSync(`${orderFile(name)}.fired`),
    async close() {
      await services.stop();
      await closeWorld();
    },
  };
}

async function startSink(): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, ['--no-warnings', path.join(import.meta.dirname, 'sink.main.ts')], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  const port = await new Promise<string>((resolve, reject) => {
    child.stdout!.once('data', (data: Buffer) => resolve(data.toString().trim()));
    child.once('exit', () => reject(new Error('the sink ended before it listened')));
  });
  return { child, url: `http://127.0.0.1:${port}` };
}
