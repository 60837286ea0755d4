import { Redis } from 'ioredis';
import { createLocks } from '#locks';
import { lockContract } from '../../testing/lock-contract.ts';

const url = process.env.TEST_REDIS_URL;
if (!url) throw new Error('TEST_REDIS_URL is not set: run the tests by "npm run test:stack"');

lockContract('Redis', () => ({ open: () => createLocks({ kind: 'redis', url }) }));

describe('locks on Redis', () => {
  it('L6 an unreachable Redis answers `unavailable`, it does not hang', async () => {
    const port = await createLocks({ kind: 'redis', url: 'redis://127.0.0.1:1' });
    expect((await port.acquire({ resources: ['dev/x'], owner: 'me', waitMs: 60_000, ttlMs: 1000 })).kind).toBe(
      'unavailable',
    );
    expect(port.healthy()).toBe(false);
    await port.close();
  });

  it('L5 a holder whose key is gone is told', async () => {
    const admin = new Redis(url);
    const port = await createLocks({ kind: 'redis', url });
    const answer = await port.acquire({ resources: ['dev/gone'], owner: 'me', waitMs: 0, ttlMs: 90 });
    if (answer.kind !== 'held') throw new Error(answer.kind);
    await admin.del('cs:lock:dev/gone');
    await new Promise((resolve) => answer.handle.lost.addEventListener('abort', resolve, { once: true }));
    await answer.handle.release();
    await port.close();
    admin.disconnect();
  });

  it('64 uncontended acquires of one moment travel in one pipeline, one script call each', async () => {
    const admin = new Redis(url);
    const port = await createLocks({ kind: 'redis', url });
    await port.acquire({ resources: ['dev/warm'], owner: 'w', waitMs: 0, ttlMs: 1000 }); // loads the script
    const calls = async (): Promise<number> => {
      const text = await admin.info('commandstats');
      return [...text.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce((sum, match) => sum + Number(match[1]), 0);
    };
    const before = await calls();
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, n) =>
        port.acquire({ resources: [`dev/p:${n}`], owner: `o${n}`, waitMs: 0, ttlMs: 30_000 }),
      ),
    );
    expect(answers.every((answer) => answer.kind === 'held')).toBe(true);
    expect((await calls()) - before).toBe(64);
    await Promise.all(answers.map((answer) => (answer.kind === 'held' ? answer.handle.release() : Promise.resolve())));
    await port.close();
    admin.disconnect();
  });
});
