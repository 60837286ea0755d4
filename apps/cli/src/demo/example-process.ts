import { spawn, type ChildProcess } from 'node:child_process';
import { getCompileCacheDir } from 'node:module';
import path from 'node:path';
import { InfrastructureError } from '#kernel';
import type { Environment } from '#runtime';
import type { ExampleEntry } from './example-catalogue.ts';

/** The source system of an example: a process of its own, as a real system would be; it ends with us. */
export interface ExampleProcess {
  readonly pid: number | undefined;
  /** Resolves when it answers. @throws InfrastructureError when it ended, or is not there in time */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

const READY_LIMIT_MS = 20_000;

export function startExampleProcess(
  { name, workspace, serviceArguments }: ExampleEntry,
  port: number,
  dataDir: string,
  env: Environment,
): ExampleProcess {
  const main = path.join(workspace, 'service/main.js');
  const cache = getCompileCacheDir();
  const child = spawn(process.execPath, [main, '--port', String(port), ...serviceArguments(dataDir)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: { ...(cache === undefined ? {} : { NODE_COMPILE_CACHE: path.dirname(cache) }), ...env },
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()).once('error', () => resolve()));
  const ready = answersOnce(name, child, exited);
  ready.catch(() => undefined); // told to whoever waits for it
  return {
    pid: child.pid,
    ready: () => ready,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/** It prints one line when it listens. */
async function answersOnce(name: string, child: ChildProcess, exited: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const listening = new Promise<boolean>((resolve) => child.stdout!.once('data', () => resolve(true)));
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), READY_LIMIT_MS)));
  const answers = await Promise.race([listening, late, exited.then(() => false)]);
  clearTimeout(timer);
  if (answers) return;
  const why = child.exitCode === null ? `is not ready after ${READY_LIMIT_MS} ms` : `ended (${child.exitCode})`;
  throw new InfrastructureError(`The service of the example ${name} ${why}; what it said stands above.`);
}
