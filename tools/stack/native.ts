import path from 'node:path';
import { startKafka } from './kafka.ts';
import type { PartName, StartedPart, StartOptions } from './part.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';

/** Starts one part as a process of this machine, from packages. */
export async function startNative(
  name: PartName,
  { directory, postgresSettings, say }: StartOptions,
): Promise<StartedPart> {
  const own = path.join(directory, name);
  switch (name) {
    case 'kafka':
      return startKafka({ directory: own, say });
    case 'redis':
      return startRedis({ directory: own, say });
    case 'postgres':
      return startPostgres({ directory: own, settings: postgresSettings });
  }
}
