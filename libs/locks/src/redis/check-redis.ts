import { Redis } from 'ioredis';
import { CountersignError, InfrastructureError } from '#kernel';

const PATIENCE_MS = 3_000;

/**
 * Asks a Redis server once.
 * @returns its version
 * @throws InfrastructureError when it does not answer; CountersignError INVALID_ARGS when it refuses us. Neither names the password
 */
export async function checkRedis(url: string): Promise<string> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: PATIENCE_MS,
    commandTimeout: PATIENCE_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason = '';
  redis.on('error', (error: NodeJS.ErrnoException) => (reason = error.code ?? error.message));
  try {
    await redis.connect();
    const info = await redis.info('server');
    return /^redis_version:(\S+)/m.exec(info)?.[1] ?? 'unknown';
  } catch (error) {
    const text = reason || (error as Error).message;
    if (/NOAUTH|WRONGPASS|NOPERM/.test(text))
      throw new CountersignError(
        'INVALID_ARGS',
        `Redis refuses the credentials of the address: ${text.slice(0, 200)}`,
        {
          cause: error,
        },
      );
    throw new InfrastructureError(`no Redis answers (${text.slice(0, 200)})`, error);
  } finally {
    redis.disconnect();
  }
}
