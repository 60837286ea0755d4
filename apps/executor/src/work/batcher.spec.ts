import { createBatcher } from './batcher.ts';

describe('merging requests into batches', () => {
  const open = (options: { inFlight: number; crowd: number; maxBatch?: number; maxBytes?: number }) => {
    const batches: number[][] = [];
    const gates: PromiseWithResolvers<void>[] = [];
    const ask = createBatcher<number, number>(
      async (inputs) => {
        batches.push([...inputs]);
        const gate = Promise.withResolvers<void>();
        gates.push(gate);
        await gate.promise;
        return inputs.map((n) => n * 10);
      },
      { maxBatch: 100, bytesOf: (n) => n, ...options },
    );
    return { ask, batches, gates };
  };
  const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('a lone request goes at once, and what comes meanwhile goes together when it returns', async () => {
    const { ask, batches, gates } = open({ inFlight: 2, crowd: 3 });
    const first = ask(1);
    await tick();
    const others = [ask(2), ask(3)];
    await tick();
    expect(batches).toEqual([[1]]);
    gates[0]!.resolve();
    expect(await first).toBe(10);
    await tick();
    expect(batches).toEqual([[1], [2, 3]]);
    gates[1]!.resolve();
    expect(await Promise.all(others)).toEqual([20, 30]);
  });

  it('a crowd starts a second batch beside the first, never a third', async () => {
    const { ask, batches, gates } = open({ inFlight: 2, crowd: 2 });
    const all = [ask(1)];
    await tick();
    all.push(ask(2), ask(3));
    await tick();
    expect(batches).toEqual([[1], [2, 3]]);
    all.push(ask(4), ask(5), ask(6));
    await tick();
    expect(batches).toHaveLength(2);
    gates[1]!.resolve();
    await tick();
    gates[2]!.resolve();
    gates[0]!.resolve();
    expect(await Promise.all(all)).toEqual([10, 20, 30, 40, 50, 60]);
  });

  it('a batch ends before its bytes or its requests are too many; a request alone may have more', async () => {
    const { ask, batches, gates } = open({ inFlight: 1, crowd: 1, maxBatch: 3, maxBytes: 10 });
    const all = [20, 4, 6, 1, 1, 1, 1].map(ask);
    for (let n = 0; n < 4; n++) {
      await tick();
      gates[n]!.resolve();
    }
    await Promise.all(all);
    expect(batches).toEqual([[20], [4, 6], [1, 1, 1], [1]]);
  });

  it('a batch that fails fails its own requests alone', async () => {
    let fail = true;
    const ask = createBatcher<number, number>(
      (inputs) => (fail ? Promise.reject(new Error('no')) : Promise.resolve(inputs)),
      {
        inFlight: 1,
        crowd: 1,
        maxBatch: 10,
      },
    );
    await expect(Promise.allSettled([ask(1), ask(2)])).resolves.toMatchObject([
      { status: 'rejected' },
      { status: 'rejected' },
    ]);
    fail = false;
    expect(await ask(3)).toBe(3);
  });
});
