import type { Admin } from 'kafkajs';
import { InfrastructureError } from '#kernel';
import type { OffsetGap } from '../bus.port.ts';

/**
 * Records that were deleted before their group read them: where its next record should be, none is any more. kafkajs goes
 * on at the earliest that is left, and says nothing.
 *
 * O1 before a group is joined, the offsets that it committed are held against the first that are there;
 * O2 afterwards a jump in a partition's offsets is one only if those between are deleted: compaction jumps, too;
 * O3 a group whose position is unknown (the broker forgets it some days after the last member left; kafkajs gives it up when
 *    it resets) may have read what was deleted, or not: that is told as a gap that begins nobody knows where.
 */
export class OffsetGaps {
  readonly #admin: Pick<Admin, 'fetchOffsets' | 'fetchTopicOffsets'>;

  constructor(admin: Pick<Admin, 'fetchOffsets' | 'fetchTopicOffsets'>) {
    this.#admin = admin;
  }

  /** @throws InfrastructureError when the broker does not answer */
  async beforeJoin(groupId: string, topics: readonly string[]): Promise<OffsetGap[]> {
    const committed = await asked(() => this.#admin.fetchOffsets({ groupId, topics: [...topics] }));
    const gaps = committed.map(async ({ topic, partitions }) => {
      const first = await this.#firstOffsets(topic);
      return partitions.flatMap(({ partition, offset }) =>
        gapBetween({ topic, partition }, Number(offset), first.get(partition) ?? 0),
      );
    });
    return (await Promise.all(gaps)).flat();
  }

  /** @throws InfrastructureError when the broker does not answer */
  async afterJump({ topic, partition, from, to }: Jump): Promise<OffsetGap[]> {
    const first = (await this.#firstOffsets(topic)).get(partition) ?? 0;
    return gapBetween({ topic, partition }, from, Math.min(first, to));
  }

  async #firstOffsets(topic: string): Promise<ReadonlyMap<number, number>> {
    const offsets = await asked(() => this.#admin.fetchTopicOffsets(topic));
    return new Map(offsets.map(({ partition, low }) => [partition, Number(low)]));
  }
}

/** A record came at `to`, the one before it was that before `from`. */
export interface Jump {
  readonly topic: string;
  readonly partition: number;
  readonly from: number;
  readonly to: number;
}

/** @param next where the group goes on; negative = unknown */
function gapBetween(at: Pick<OffsetGap, 'topic' | 'partition'>, next: number, first: number): OffsetGap[] {
  if (next >= first || first === 0) return [];
  return [{ ...at, from: next < 0 ? null : next, to: first }];
}

async function asked<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (error) {
    throw new InfrastructureError('the broker does not tell the offsets', error);
  }
}
