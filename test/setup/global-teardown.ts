import { rmSync } from 'node:fs';
import type { EmbeddedPostgres } from '../../libs/runtime/src/embedded/embedded-postgres.ts';

export default async function teardown(): Promise<void> {
  const made = (globalThis as { testPostgres?: { server: EmbeddedPostgres; directory: string } }).testPostgres;
  if (!made) return;
  await made.server.stop();
  rmSync(made.directory, { recursive: true, force: true });
}
