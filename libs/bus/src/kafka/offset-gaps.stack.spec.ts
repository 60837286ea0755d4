import { Kafka, logLevel, type Admin } from 'kafkajs';
import { InfrastructureError } from '#kernel';
import { gate, recorder, started, until } from '../../testing/bus-harness.ts';
import { sample, unique } from '../../testing/sample-messages.ts';
import type { ConsumerSpec, OffsetGap } from '../bus.port.ts';
import { KafkaBus } from './kafka-bus.ts';

const brokers = process.env.TEST_KAFKA_BROKERS?.split(',') ?? [];

describe('a group whose next records were deleted before it read them', () => {
  let admin: Admin;
  beforeAll(async () => {
    admin = new Kafka({ brokers, clientId: 'gaps', logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
  });
  afterAll(() => admin.disconnect());

  const open = (topic: string, highWater?: number): KafkaBus =>
    new KafkaBus({
      brokers,
      clientId: 'gaps',
      partitions: 1,
      topics: [topic],
      ...(highWater === undefined ? {} : { highWater }),
    });
  const publish = async (bus: KafkaBus, topic: string, ids: readonly string[]): Promise<void> => {
    for (const id of ids) await bus.publish([sample(topic, id)]);
  };
  /** As retention does. */
  const deleteBefore = async (topic: string, offset: number): Promise<void> => {
    await admin.fetchTopicOffsets(topic); // kafkajs looks for the leader only among topics that it knows
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: String(offset) }] });
  };
  const listening = (): { order: string[]; gaps: OffsetGap[]; more: Partial<ConsumerSpec> } => {
    const order: string[] = [];
    const gaps: OffsetGap[] = [];
    const onGap = async (found: readonly OffsetGap[]): Promise<void> => {
      order.push('gap');
      gaps.push(...found);
    };
    return { order, gaps, more: { onGap } };
  };

  /** Reads `a` and `b`, goes away, and five more come. */
  const away = async (topic: string, groupName: string): Promise<void> => {
    const group = recorder(groupName, [topic]);
    const bus = await started(open(topic), group.spec);
    await publish(bus as KafkaBus, topic, ['a', 'b']);
    await until('it read them', () => group.ids().length === 2);
    await bus.drain();
    await publish(bus as KafkaBus, topic, ['c', 'd', 'e', 'f', 'g']);
    await bus.close();
  };

  it('is told which, before it goes on behind them; again if it dies before it commits (O1)', async () => {
    const [topic, groupName] = [unique('gap'), unique('group')];
    await away(topic, groupName);
    await deleteBefore(topic, 5);
    const { order, gaps, more } = listening();
    let refusals = 2;
    const onGap: ConsumerSpec['onGap'] = async (found) => {
      if (refusals-- > 0) throw new InfrastructureError('the database is away');
      await more.onGap!(found);
    };
    const group = recorder(groupName, [topic], () => void order.push('batch'), { onGap });
    const bus = await started(open(topic), group.spec);
    await until('it goes on', () => group.ids().length === 2);
    expect(gaps).toEqual([{ topic, partition: 0, from: 2, to: 5 }]);
    expect([order[0], group.ids()]).toEqual(['gap', ['f', 'g']]);
    await bus.drain();
    await bus.close();

    const quiet = listening();
    const again = await started(open(topic), recorder(groupName, [topic], undefined, quiet.more).spec);
    expect(quiet.gaps).toEqual([]);
    await again.close();
  });

  it('is told that it is not known which, when the broker forgot how far it had come (O3)', async () => {
    const [topic, groupName] = [unique('gap'), unique('group')];
    await away(topic, groupName);
    await admin.deleteGroups([`${groupName}.${topic}`]);
    await deleteBefore(topic, 5);
    const { gaps, more } = listening();
    const group = recorder(groupName, [topic], undefined, more);
    const bus = await started(open(topic), group.spec);
    await until('it goes on', () => group.ids().length === 2);
    expect(gaps).toEqual([{ topic, partition: 0, from: null, to: 5 }]);
    await bus.close();
  });

  it('is told which, when it is at work and too slow (O2)', async () => {
    const [topic, groupName] = [unique('gap'), unique('group')];
    const { order, gaps, more } = listening();
    const slow = gate();
    const handle = async (): Promise<void> => {
      order.push('batch');
      await slow.opened;
    };
    const group = recorder(groupName, [topic], handle, { ...more, maxBatch: 1 });
    const bus = (await started(open(topic, 1), group.spec)) as KafkaBus;
    await bus.publish([sample(topic, 'a'), sample(topic, 'b')]); // b is queued: fetching stops
    await until('no more is fetched', () => order.length === 1 && bus.queued(groupName) === 1);
    await publish(bus, topic, ['c', 'd', 'e', 'f']);
    await deleteBefore(topic, 4);
    slow.open();
    await until('it goes on', () => group.ids().at(-1) === 'f');
    expect(gaps).toEqual([{ topic, partition: 0, from: 2, to: 4 }]);
    expect(group.ids()).toEqual(['a', 'b', 'e', 'f']);
    await bus.close();
  });
});
