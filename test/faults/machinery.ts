import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { openStack } from '../../tools/stack/stack.ts';
import { startPostgres } from '../../tools/stack/postgres.ts';
import { recovery, type Applied } from './fault-run.ts';
import type { Installation } from './installation.ts';
import type { Load } from './load.ts';
import type { Mode } from './places.ts';

/** What stands beside the services and may be killed, too. */
export interface Machinery {
  readonly name: string;
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** Forgets all that it holds, where it can. */
  flush?(): Promise<void>;
}

export interface OpenMachinery {
  readonly addresses: { databaseUrl: string; kafkaBrokers?: string; redisUrl?: string };
  readonly parts: readonly Machinery[];
  close(): Promise<void>;
}

/** Servers of this run's own, because they are killed, too. */
export async function openMachinery(mode: Mode, say: (line: string) => void): Promise<OpenMachinery> {
  if (mode === 'embedded') {
    const directory = mkdtempSync(path.join(os.tmpdir(), 'countersign-faults-pg-'));
    const postgres = await startPostgres({ directory: path.join(directory, 'data') });
    return {
      addresses: { databaseUrl: postgres.address },
      parts: [{ name: 'postgres', kill: () => postgres.kill(), restart: () => postgres.restart() }],
      close: async () => {
        await postgres.stop();
        rmSync(directory, { recursive: true, force: true });
      },
    };
  }
  const stack = await openStack({ say, reuse: false });
  const part = (name: 'kafka' | 'redis' | 'postgres'): Machinery => ({
    name,
    kill: () => stack.parts[name].kill!(),
    restart: () => stack.parts[name].restart!(),
  });
  const flush = async (): Promise<void> => {
    const redis = new Redis(stack.redisUrl);
    await redis.flushall();
    redis.disconnect();
  };
  return {
    addresses: { databaseUrl: stack.databaseUrl, kafkaBrokers: stack.kafkaBrokers, redisUrl: stack.redisUrl },
    parts: [part('kafka'), { ...part('redis'), flush }, part('postgres')],
    close: stack.close,
  };
}

/** kill -9 and a restart, or all that it holds is forgotten. */
export async function strike(
  installation: Installation,
  load: Load,
  part: Machinery,
  how: 'kill -9' | 'flush',
): Promise<Applied> {
  const since = performance.now();
  if (how === 'flush') await part.flush!();
  else {
    await part.kill();
    await part.restart();
  }
  const recoveryMs = await recovery(installation, load, since, null);
  return { target: part.name, fault: how, reached: true, recoveryMs };
}
