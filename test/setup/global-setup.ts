import { mkdtempSync, chmodSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startEmbeddedPostgres } from '../../libs/runtime/src/embedded/embedded-postgres.ts';

/** One real PostgreSQL for the whole run, unless TEST_DATABASE_URL names one. Each suite makes a database of its own in it. */
export default async function setup(): Promise<void> {
  if (process.env.TEST_DATABASE_URL) return;
  const directory = mkdtempSync(path.join(os.tmpdir(), 'countersign-test-'));
  chmodSync(directory, 0o755);
  const server = await startEmbeddedPostgres({ directory });
  process.env.TEST_DATABASE_URL = server.url('postgres');
  (globalThis as { testPostgres?: unknown }).testPostgres = { server, directory };
}
