import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Redis as Client } from 'ioredis';
import { createLocks, type LockPort } from '#locks';
import { freshDatabase, type FreshDatabase } from '../../../libs/persistence/testing/fresh-database.ts';
import { startRedis, type Redis } from '../../../tools/stack/redis.ts';
import type { RunOutcome } from './domain/tool-runner.port.ts';
import { answered, grant, newCallId, openExecutor, tool, until, type Executor } from '../testing/executor-rig.ts';

const WRITES = 10;

interface Fault {
  readonly name: string;
  readonly before?: (redis: Redis) => Promise<unknown>;
  /** Once, while the third write is at work and others wait. */
  readonly during?: (redis: Redis) => Promise<unknown>;
  /** At every write. */
  readonly each?: (redis: Redis) => Promise<unknown>;
  /** So that Redis answers again. */
  readonly after?: (redis: Redis) => Promise<unknown>;
}
const flush = async ({ url }: Redis): Promise<void> => {
  const client = new Client(url);
  await client.flushall();
  client.disconnect();
};
const give =
  (signal: NodeJS.Signals) =>
  ({ pid }: Redis): Promise<unknown> =>
    Promise.resolve(process.kill(pid!, signal));
const revive = (redis: Redis): Promise<void> => redis.restart();

const FAULTS: readonly Fault[] = [
  { name: 'is well' },
  { name: 'is down at the start', before: (redis) => redis.kill(), after: revive },
  { name: 'is killed while they wait', during: (redis) => redis.kill(), after: revive },
  { name: 'is restarted while they wait', during: revive },
  { name: 'loses everything at every write', each: flush },
  { name: 'stands still (SIGSTOP) while they wait', during: give('SIGSTOP'), after: give('SIGCONT') },
];

/** Redis only orders the wait (L6): whatever becomes of it, the journal keeps writers apart and work goes on. */
describe('G6 two executors of one journal and one Redis', () => {
  let directory: string;
  let redis: Redis;
  let fresh: FreshDatabase;
  let executors: Executor[] = [];
  let locks: LockPort[] = [];
  beforeEach(async () => {
    directory = mkdtempSync(path.join(os.tmpdir(), 'countersign-redis-'));
    redis = await startRedis({ directory });
    fresh = await freshDatabase();
  });
  afterEach(async () => {
    for (const executor of executors.splice(0)) await executor.close();
    for (const port of locks.splice(0)) await port.close();
    await fresh.drop();
    await redis.kill();
    rmSync(directory, { recursive: true, force: true });
  });

  it.each(FAULTS)(
    'Redis $name: writes of one resource never overlap, all are done, fences only grow, no lock stays behind',
    async ({ before, during, each, after }) => {
      let inside = 0;
      let most = 0;
      const fences: number[] = [];
      const struck: Promise<unknown>[] = [];
      const resource = `ticket:${newCallId()}`;
      const run = async ({ fence }: { fence?: unknown }): Promise<RunOutcome> => {
        most = Math.max(most, ++inside);
        fences.push((fence as Record<string, number>)[resource]!);
        if (fences.length === 3 && during) struck.push(during(redis));
        if (each) await each(redis);
        await new Promise((resolve) => setImmediate(resolve));
        inside--;
        return answered({});
      };
      await before?.(redis);
      locks = [
        await createLocks({ kind: 'redis', url: redis.url }),
        await createLocks({ kind: 'redis', url: redis.url }),
      ];
      // Longer than any pause of this machine: a takeover would be another test.
      const env = { COUNTERSIGN_LEASE_MS: '20000' };
      executors = await Promise.all(locks.map((port) => openExecutor({ url: fresh.url, env, run, locks: port })));
      const of = tool({ concurrency: 'per_resource', resources: ['ticket:{id}'], idempotency: { mode: 'none' } });
      const granted = Array.from({ length: WRITES }, () => grant({ of, resources: [resource] }));
      await Promise.all(granted.map((one, n) => executors[n % 2]!.deliverGrants(one)));
      const settled = await until(() => {
        const all = executors.flatMap((executor) => executor.messagesOf('CallSettled'));
        return all.length === WRITES ? all : null;
      });
      expect(settled.map(({ data }) => (data as { status: string }).status)).toEqual(
        Array.from({ length: WRITES }, () => 'succeeded'),
      );
      expect(most).toBe(1);
      expect(fences).toHaveLength(WRITES);
      expect(fences.every((fence, n) => n === 0 || fence > fences[n - 1]!)).toBe(true);
      const held = await executors[0]!.database.query({ text: 'select from resource_hold where holder is not null' });
      expect(held).toEqual([]);

      await Promise.all(struck);
      await after?.(redis);
      const client = new Client(redis.url);
      await until(async () => (await client.keys('cs:lock:*')).length === 0, 40_000);
      client.disconnect();
      const again = grant({ of, resources: [resource] });
      await executors[1]!.deliverGrants(again);
      expect(await executors[1]!.settlement(again.callId!)).toMatchObject({ status: 'succeeded' });
      expect(fences.at(-1)).toBeGreaterThan(fences.at(-2)!);
    },
    90_000,
  );
});
