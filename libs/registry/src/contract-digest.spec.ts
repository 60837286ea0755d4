import fc from 'fast-check';
import type { ToolContract } from '#contracts';
import { contractDigest } from '#registry';
import { sampleContract } from '../testing/sample-contract.ts';

/** The same value with the keys of every object in another order. */
function reordered(value: unknown, turn: (keys: string[]) => string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => reordered(item, turn));
  if (typeof value !== 'object' || value === null) return value;
  const source = value as Record<string, unknown>;
  return Object.fromEntries(turn(Object.keys(source)).map((key) => [key, reordered(source[key], turn)]));
}

describe('the digest of a contract', () => {
  const contract = sampleContract();

  it('does not depend on the order of keys (property)', () => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat()), (weights) => {
        const turn = (keys: string[]): string[] =>
          keys
            .map((key) => ({ key, weight: weights.next().value as number }))
            .sort((a, b) => a.weight - b.weight)
            .map(({ key }) => key);
        expect(contractDigest(reordered(contract, turn) as ToolContract)).toBe(contractDigest(contract));
      }),
    );
  });

  it('changes with every field that a caller could rely on (property)', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('title', 'description', 'whenToUse', 'version', 'risk'),
        fc.string(),
        (field, text) => {
          fc.pre(contract[field as 'title'] !== text);
          expect(contractDigest({ ...contract, [field]: text } as ToolContract)).not.toBe(contractDigest(contract));
        },
      ),
    );
  });

  it('survives a way through JSON', () => {
    expect(contractDigest(JSON.parse(JSON.stringify(contract)) as ToolContract)).toBe(contractDigest(contract));
  });
});
