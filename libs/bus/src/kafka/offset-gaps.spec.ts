import type { Admin } from 'kafkajs';
import { InfrastructureError } from '#kernel';
import { OffsetGaps } from './offset-gaps.ts';

/** One topic `t`: by partition, what the group committed and the first offset that is there. */
const gapsOf = (partitions: readonly { committed: string; low: string }[]): OffsetGaps =>
  new OffsetGaps({
    fetchOffsets: async () => [
      { topic: 't', partitions: partitions.map(({ committed: offset }, partition) => ({ partition, offset })) },
    ],
    fetchTopicOffsets: async () => partitions.map(({ low }, partition) => ({ partition, low })),
  } as unknown as Admin);

describe('records that were deleted before their group read them', () => {
  it('are those between what was committed and the first that is there (O1)', async () => {
    const gaps = gapsOf([
      { committed: '3', low: '6' },
      { committed: '6', low: '6' },
      { committed: '9', low: '6' },
    ]);
    expect(await gaps.beforeJoin('g', ['t'])).toEqual([{ topic: 't', partition: 0, from: 3, to: 6 }]);
  });

  it('may be any before the first that is there, where nobody knows what was read; a new topic has none (O3)', async () => {
    const gaps = gapsOf([
      { committed: '-1', low: '6' },
      { committed: '-2', low: '7' },
      { committed: '-1', low: '0' },
    ]);
    expect(await gaps.beforeJoin('g', ['t'])).toEqual([
      { topic: 't', partition: 0, from: null, to: 6 },
      { topic: 't', partition: 1, from: null, to: 7 },
    ]);
  });

  it.each([
    ['all of them', '9', [{ topic: 't', partition: 0, from: 4, to: 9 }]],
    ['some; others were compacted away', '7', [{ topic: 't', partition: 0, from: 4, to: 7 }]],
    ['more were deleted meanwhile, but this one came', '20', [{ topic: 't', partition: 0, from: 4, to: 9 }]],
    ['none: compaction', '2', []],
  ])('of a jump from 4 to 9: %s (O2)', async (_, low, expected) => {
    const gaps = gapsOf([{ committed: '4', low }]);
    expect(await gaps.afterJump({ topic: 't', partition: 0, from: 4, to: 9 })).toEqual(expected);
  });

  it('a broker that does not answer is asked again, so it is no reason to end (B5)', async () => {
    const away = async (): Promise<never> => {
      throw new Error('not the coordinator');
    };
    const gaps = new OffsetGaps({ fetchOffsets: away, fetchTopicOffsets: away } as unknown as Admin);
    await expect(gaps.beforeJoin('g', ['t'])).rejects.toThrow(InfrastructureError);
  });
});
