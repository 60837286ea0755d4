import { jest } from '@jest/globals';
import { GroupLoop } from './group-loop.ts';
import { Body, type Work } from './work.ts';

const work = (key: string | null, offset: number, stale = false): Work => {
  const delivery = {
    topic: 't',
    partition: 0,
    offset: String(offset),
    key: key === null ? null : Buffer.from(key),
    value: null,
    headers: {},
    attempt: 1,
  };
  return { delivery, body: new Body(null), settle: () => undefined, isStale: () => stale };
};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A loop whose batches end when the test says so. */
function loop(spec: { maxBatch?: number; concurrency?: number; offPath?: { paceMs: number } }): {
  loop: GroupLoop;
  batches: string[][];
  finish: (index: number) => Promise<void>;
} {
  const batches: string[][] = [];
  const ends: (() => void)[] = [];
  const route = (batch: readonly Work[]): Promise<void> => {
    batches.push(batch.map(({ delivery }) => `${delivery.key ?? ''}${delivery.offset}`));
    return new Promise((resolve) => ends.push(resolve));
  };
  const made = new GroupLoop({ spec, route, onError: (error) => { throw error; } }); // prettier-ignore
  made.start();
  return { loop: made, batches, finish: (index) => (ends[index]!(), turn()) };
}

describe('the reducer loop of a group', () => {
  it('takes all that is queued when the batch before it returns, up to the cap (Q1)', async () => {
    const { loop: group, batches, finish } = loop({ maxBatch: 3 });
    group.push([work('a', 0)]);
    await turn();
    group.push([work('a', 1), work('b', 2)]);
    group.push([work('a', 3), work('c', 4)]);
    await turn();
    expect(batches).toEqual([['a0']]);
    await finish(0);
    await finish(1);
    expect(batches).toEqual([['a0'], ['a1', 'b2', 'a3'], ['c4']]);
  });

  it('never has two batches with the same key in flight, and keeps the order within a key (Q2)', async () => {
    const { loop: group, batches, finish } = loop({ concurrency: 2, maxBatch: 2 });
    group.push([work('a', 0), work('b', 1), work('a', 2), work('c', 3), work('c', 4), work(null, 5)]);
    await turn();
    expect(batches).toEqual([
      ['a0', 'b1'],
      ['c3', 'c4'],
    ]);
    await finish(1);
    expect(batches[2]).toEqual(['5']);
    await finish(0);
    expect(batches[3]).toEqual(['a2']);
  });

  it('a stop waits for what is in flight and begins nothing more; stale records are dropped (Q3)', async () => {
    const { loop: group, batches, finish } = loop({ maxBatch: 2 });
    group.push([work('a', 0, true), work('a', 1)]);
    await turn();
    expect(batches).toEqual([['a1']]);
    group.push([work('a', 2)]);
    let stopped = false;
    const stop = group.stop().then(() => (stopped = true));
    await turn();
    expect(stopped).toBe(false);
    await finish(0);
    await stop;
    expect(batches).toHaveLength(1);
    expect(group.queued).toBe(1);
  });

  it('off the path begins the first batch at once and the next ones at the pace, with all that came meanwhile (Q1)', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    try {
      const { loop: group, batches, finish } = loop({ offPath: { paceMs: 100 } });
      group.push([work('a', 0)]);
      await turn();
      expect(batches).toEqual([['a0']]);
      await finish(0);
      group.push([work('a', 1)]);
      await turn();
      jest.advanceTimersByTime(60);
      group.push([work('a', 2)]);
      await turn();
      expect(batches).toHaveLength(1);
      jest.advanceTimersByTime(40);
      expect(batches).toEqual([['a0'], ['a1', 'a2']]);
      group.push([work('a', 3)]);
      await finish(1);
      await group.stop();
      jest.advanceTimersByTime(1_000);
      expect(batches).toHaveLength(2);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });
});
