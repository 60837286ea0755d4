import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startEmbeddedPostgres } from '../../libs/runtime/src/embedded/embedded-postgres.ts';

/** Ends what the set-up started; global-teardown.ts calls it. */
export const RUNNING = Symbol.for('countersign.test.running');
export type Running = { [RUNNING]?: () => Promise<void> };

/**
 * What a whole test run shares. `npm test`: one real PostgreSQL. `npm run test:stack`: Kafka and Redis, too.
 * TEST_DATABASE_URL, TEST_KAFKA_BROKERS and TEST_REDIS_URL tell the suites; each suite makes a database and topics of its own.
 */
export default async function setup(): Promise<void> {
  const end = process.env.TEST_SELECTION === 'stack' ? await openWholeStack() : await openPostgres();
  (globalThis as Running)[RUNNING] = end;
}

async function openWholeStack(): Promise<() => Promise<void>> {
  const { openStack } = await import('../../tools/stack/stack.ts'); // not loaded by the runs that need no broker
  const stack = await openStack();
  process.env.TEST_DATABASE_URL = stack.databaseUrl;
  process.env.TEST_KAFKA_BROKERS = stack.kafkaBrokers;
  process.env.TEST_REDIS_URL = stack.redisUrl;
  return stack.close;
}

async function openPostgres(): Promise<() => Promise<void>> {
  if (process.env.TEST_DATABASE_URL) return async () => undefined;
  const directory = mkdtempSync(path.join(os.tmpdir(), 'countersign-test-'));
  chmodSync(directory, 0o755);
  const server = await startEmbeddedPostgres({ directory });
  process.env.TEST_DATABASE_URL = server.url('postgres');
  // a run that is interrupted ends its server, too: Jest leaves the teardown out then
  const interrupted = (signal: NodeJS.Signals): void => void end().finally(() => process.kill(process.pid, signal));
  process.once('SIGTERM', interrupted).once('SIGINT', interrupted);
  return end;

  async function end(): Promise<void> {
    process.removeListener('SIGTERM', interrupted).removeListener('SIGINT', interrupted);
    await server.stop();
    for (const folder of [directory, server.directory]) rmSync(folder, { recursive: true, force: true });
  }
}
