import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { freePort, SERVICE_NAMES } from '#runtime';
import { freshDatabase } from '../../libs/persistence/testing/fresh-database.ts';
import {
  startServices,
  type ProcessCommand,
  type RunningServices,
} from '../../apps/cli/src/supervisor/start-services.ts';
import type { World } from './world.ts';

export interface Processes {
  readonly gateway: string;
  readonly databaseUrl: string;
  readonly services: RunningServices;
  close(): Promise<void>;
}

/**
 * The built tree as processes that are started again when they die: one for each service on the test run's Kafka,
 * Redis and PostgreSQL, or all services in one.
 */
export async function openProcesses(
  mode: 'embedded' | 'stack',
  world: Omit<World, 'office'>,
  command?: ProcessCommand,
): Promise<Processes> {
  const fresh = await freshDatabase();
  const logs = mkdtempSync(path.join(os.tmpdir(), 'countersign-logs-'));
  chmodSync(logs, 0o755);
  const port = await freePort();
  const services = await startServices({
    names: mode === 'stack' ? SERVICE_NAMES : ['all-in-one'],
    env: {
      PATH: process.env.PATH,
      ...world.env,
      COUNTERSIGN_DATABASE_URL: fresh.url,
      ...(mode === 'stack'
        ? {
            COUNTERSIGN_KAFKA_BROKERS: process.env.TEST_KAFKA_BROKERS,
            COUNTERSIGN_REDIS_URL: process.env.TEST_REDIS_URL,
          }
        : {}),
      COUNTERSIGN_HTTP_PORT: String(port),
      COUNTERSIGN_LOG_LEVEL: 'warn',
    },
    logDirectory: logs,
    ...(command ? { command } : {}),
  });
  return {
    gateway: `http://127.0.0.1:${port}`,
    databaseUrl: fresh.url,
    services,
    async close() {
      await services.stop();
      await fresh.drop();
      rmSync(logs, { recursive: true, force: true });
    },
  };
}
