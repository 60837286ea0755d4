import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { freePort } from '../../libs/runtime/src/embedded/embedded-postgres.ts';
import { need } from './install.ts';
import { startNativeProcess } from './native-process.ts';
import type { Say, StartedPart } from './part.ts';
import { accepts, type ProcessRecord, recordOf, startDetached, untilReady } from './processes.ts';

export interface Redis extends StartedPart {
  readonly url: string;
}

export interface RedisOptions {
  /** Created if missing; holds the log and the append-only file. */
  readonly directory: string;
  /** A free one if not given. */
  readonly port?: number;
  readonly say?: Say;
}

const READY_TIMEOUT_MS = 60_000;
const STOP_GRACE_MS = 10_000;

/** A real Redis on loopback, in a process group of its own. */
export async function startRedis(options: RedisOptions): Promise<Redis> {
  const directory = path.resolve(options.directory);
  mkdirSync(directory, { recursive: true });
  const wanted = {
    program: 'redis-server',
    packages: ['redis-server'],
    otherwise: 'set COUNTERSIGN_REDIS_URL to a Redis of your own',
  };
  const program = await need(wanted, options.say ?? (() => undefined));
  const port = options.port ?? (await freePort());
  const url = `redis://127.0.0.1:${port}`;
  const launch = (): Promise<ProcessRecord> => launchRedis(program, directory, port);
  return Object.assign(await startNativeProcess({ address: url, graceMs: STOP_GRACE_MS, launch }), { url });
}

async function launchRedis(program: string, directory: string, port: number): Promise<ProcessRecord> {
  const logFile = path.join(directory, 'redis.log');
  const settings = {
    bind: '127.0.0.1',
    port: String(port),
    dir: directory,
    save: '',
    appendonly: 'yes',
    daemonize: 'no',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const child = startDetached({ command: program, args, logFile, cwd: directory });
  await untilReady({
    name: 'Redis',
    child,
    logFile,
    timeoutMs: READY_TIMEOUT_MS,
    ready: () => accepts('127.0.0.1', port),
  });
  return recordOf(child.pid!, 'redis-server');
}
