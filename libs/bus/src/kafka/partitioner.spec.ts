import fc from 'fast-check';
import { partitionOf } from '#kernel';
import { partitioner } from './partitioner.ts';

const partitionMetadata = Array.from({ length: 6 }, (_, partitionId) => ({
  partitionId,
  leader: 1,
  isr: [1],
  replicas: [1],
  partitionErrorCode: 0,
}));
const choose = (key: string | Buffer, partitionKey?: string): number =>
  partitioner()({
    topic: 't',
    partitionMetadata,
    message: { key, value: 'v', ...(partitionKey === undefined ? {} : { partitionKey }) },
  });

describe('the partition of a message', () => {
  it('is that of the run for internal topics, whatever the key', () => {
    const run = '01jabc0000000000000000000a';
    const chosen = ['call_x_0001', 'call_x_0002', 'run_x'].map((key) => choose(key, run));
    expect(new Set(chosen).size).toBe(1);
    expect(chosen[0]).toBe(choose(run));
  });

  // murmur2 of Java's clients: org.apache.kafka.common.utils.Utils.murmur2, tested there with these values
  it.each([
    ['21', -973932308],
    ['foobar', -790332482],
    ['a-little-bit-long-string', -985981536],
  ])('is the one that clients in any language compute from the key: %s', (key, murmur2) => {
    expect(choose(key)).toBe((murmur2 & 0x7fffffff) % 6);
    expect(choose(Buffer.from(key))).toBe(choose(key));
    expect(partitionOf(key, 6)).toBe(choose(key));
  });

  it('is known without a broker: the ledgers of the audit are those of its partitions', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (key) => partitionOf(key, 6) === choose(key)));
  });
});
