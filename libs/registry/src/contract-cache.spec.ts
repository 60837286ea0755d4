import { InfrastructureError } from '#kernel';
import { ContractCache, contractDigest } from '#registry';
import { sampleContract } from '../testing/sample-contract.ts';

function sourceOf(answer: (digest: string) => unknown) {
  const asked: unknown[] = [];
  return {
    asked,
    read: async <T>(service: string, question: string, args: object): Promise<T> => {
      asked.push([service, question, args]);
      return (await answer((args as { digest: string }).digest)) as T;
    },
  };
}

describe('contracts by digest', () => {
  const contract = sampleContract();
  const digest = contractDigest(contract);

  it('are read once, also when asked for at the same time, and kept for ever', async () => {
    const source = sourceOf(() => ({ digest, contract }));
    const cache = new ContractCache(source);
    const [first, second] = await Promise.all([cache.byDigest(digest), cache.byDigest(digest)]);
    expect(first).toEqual(contract);
    expect(second).toBe(first);
    expect(await cache.inputOf(digest)).toBe(await cache.inputOf(digest));
    await cache.outputOf(digest);
    expect(source.asked).toEqual([['gateway', 'contract', { digest }]]);
    expect(cache.peek(digest)).toBe(first);
  });

  it('are believed only when they have the digest that was asked for (G3)', async () => {
    const changed = { ...contract, description: 'Does something else.' };
    const cache = new ContractCache(sourceOf(() => ({ digest, contract: changed })));
    await expect(cache.byDigest(digest)).rejects.toMatchObject({ code: 'CONTRACT_CHANGED' });
  });

  it.each([null, {}, 'text', { digest, contract: { name: 'x' } }])('the answer %j is refused', async (answer) => {
    const cache = new ContractCache(sourceOf(() => answer));
    await expect(cache.byDigest(digest)).rejects.toMatchObject({ code: 'CONTRACT_CHANGED' });
  });

  it('a failed read is tried again by the next ask', async () => {
    let away = true;
    const cache = new ContractCache(
      sourceOf(() => {
        if (away) throw new InfrastructureError('registry away');
        return { digest, contract };
      }),
    );
    await expect(cache.byDigest(digest)).rejects.toBeInstanceOf(InfrastructureError);
    away = false;
    await expect(cache.byDigest(digest)).resolves.toEqual(contract);
  });

  it('cannot be changed by who holds one', async () => {
    const cache = new ContractCache(sourceOf(() => ({ digest, contract: structuredClone(contract) })));
    const held = await cache.byDigest(digest);
    expect(() => Object.assign(held.input, { type: 'array' })).toThrow(TypeError);
  });
});
