import { randomUUID } from 'node:crypto';
import type { LockHandle, LockPort } from '#locks';

export interface LockRig {
  /** A port as another process would open it, on the same server. */
  open(): Promise<LockPort>;
}

const TTL = 30_000;
const take = async (
  port: LockPort,
  resources: string[],
  extra: { waitMs?: number; ttlMs?: number; owner?: string } = {},
) =>
  port.acquire({ resources, owner: extra.owner ?? randomUUID(), waitMs: extra.waitMs ?? 0, ttlMs: extra.ttlMs ?? TTL });

async function held(
  port: LockPort,
  resources: string[],
  extra: { waitMs?: number; ttlMs?: number } = {},
): Promise<LockHandle> {
  const answer = await take(port, resources, extra);
  if (answer.kind !== 'held') throw new Error(`expected the lock, got ${answer.kind}`);
  return answer.handle;
}

/** What every adapter of the lock port must do; `one` and `two` behave like two processes. */
export function lockContract(name: string, rig: () => LockRig): void {
  describe(`${name} keeps the lock contract (G6)`, () => {
    let one: LockPort;
    let two: LockPort;
    const fresh = (): string => `dev/ticket:${randomUUID()}`;
    beforeAll(async () => {
      one = await rig().open();
      two = await rig().open();
    });
    afterAll(async () => {
      await one.close();
      await two.close();
    });

    it('L1 one owner at a time, in this process and in another', async () => {
      const resource = fresh();
      const handle = await held(one, [resource]);
      expect((await take(one, [resource])).kind).toBe('busy');
      expect((await take(two, [resource])).kind).toBe('busy');
      await handle.release();
      await (await held(two, [resource])).release();
    });

    it('L1 many writers of two processes never overlap', async () => {
      const resource = fresh();
      let inside = 0;
      let most = 0;
      const write = async (port: LockPort): Promise<void> => {
        const handle = await held(port, [resource], { waitMs: 30_000 });
        most = Math.max(most, ++inside);
        await new Promise((resolve) => setImmediate(resolve));
        inside--;
        await handle.release();
      };
      await Promise.all(Array.from({ length: 20 }, (_, i) => write(i % 2 ? one : two)));
      expect(most).toBe(1);
    });

    it('L2 several resources are taken all or none, in any order that they are named', async () => {
      const [a, b, c] = [fresh(), fresh(), fresh()];
      const middle = await held(one, [b]);
      expect((await take(two, [c, b, a])).kind).toBe('busy');
      await (await held(one, [a, c])).release();
      await middle.release();
      const work = async (port: LockPort, resources: string[]): Promise<void> => {
        await (await held(port, resources, { waitMs: 30_000 })).release();
      };
      await Promise.all(Array.from({ length: 12 }, (_, i) => work(i % 2 ? one : two, i % 3 ? [a, b, c] : [c, a])));
    });

    it('L3 waiters of a process are served in the order in which they came', async () => {
      const resource = fresh();
      const first = await held(one, [resource]);
      const order: number[] = [];
      const waiters = [1, 2, 3, 4].map(async (n) => {
        const handle = await held(one, [resource], { waitMs: 30_000 });
        order.push(n);
        await handle.release();
      });
      await first.release();
      await Promise.all(waiters);
      expect(order).toEqual([1, 2, 3, 4]);
    });

    it('L4 a release after the lock went to another frees nothing', async () => {
      const resource = fresh();
      const abandoned = await rig().open();
      const stale = await held(abandoned, [resource], { ttlMs: 40 });
      await abandoned.close(); // no renewal from here on: a process that died
      const next = await held(two, [resource], { waitMs: 30_000 });
      await stale.release();
      expect((await take(one, [resource])).kind).toBe('busy');
      await next.release();
    });

    it('a wait ends: busy after waitMs, or at once when it is aborted', async () => {
      const resource = fresh();
      const handle = await held(one, [resource]);
      expect((await take(one, [resource], { waitMs: 20 })).kind).toBe('busy');
      expect((await take(two, [resource], { waitMs: 20.4, ttlMs: TTL + 0.4 })).kind).toBe('busy');
      const stop = new AbortController();
      const waiting = two.acquire({
        resources: [resource],
        owner: randomUUID(),
        waitMs: 600_000,
        ttlMs: TTL,
        signal: stop.signal,
      });
      stop.abort();
      expect((await waiting).kind).toBe('busy');
      await handle.release();
      await (await held(one, [resource])).release();
    });

    it('a held lock is renewed beyond its ttl', async () => {
      const resource = fresh();
      const handle = await held(one, [resource], { ttlMs: 900 });
      expect((await take(two, [resource], { waitMs: 2_000 })).kind).toBe('busy');
      expect(handle.lost.aborted).toBe(false);
      await handle.release();
    });

    it('nothing to lock is held at once', async () => {
      await (await held(one, [])).release();
    });
  });
}
