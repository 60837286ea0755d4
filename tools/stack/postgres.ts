import pg from 'pg';
import { freePort, startEmbeddedPostgres } from '../../libs/runtime/src/embedded/embedded-postgres.ts';
import type { StartedPart } from './part.ts';
import { end, type ProcessRecord, recordOf } from './processes.ts';

export interface PostgresOptions {
  /** Created if missing. */
  readonly directory: string;
  readonly settings?: Readonly<Record<string, string>>;
}

const DATABASE = 'countersign';
const STOP_GRACE_MS = 20_000;

/** The PostgreSQL that npm installed, with a database `countersign`; it outlives the process that started it. */
export async function startPostgres({ directory, settings = {} }: PostgresOptions): Promise<StartedPart> {
  const port = await freePort();
  let server = await startEmbeddedPostgres({ directory, port, settings });
  await createDatabase(server.url('postgres'));
  const address = server.url(DATABASE);
  const process = (): ProcessRecord => recordOf(server.pid, 'postgres');
  return {
    address,
    get pid() {
      return server.pid;
    },
    get record() {
      return { kind: 'process' as const, address, process: process() };
    },
    stop: () => server.stop(),
    kill: async () => {
      await end(process(), 'SIGKILL', STOP_GRACE_MS);
      await server.stop();
    },
    restart: async () => {
      await server.stop();
      server = await startEmbeddedPostgres({ directory, port, settings });
    },
  };
}

async function createDatabase(url: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(`create database ${DATABASE}`);
  } finally {
    await client.end();
  }
}
