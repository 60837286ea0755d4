import { Kafka, logLevel } from 'kafkajs';
import { createBus, type Bus } from '#bus';
import { encodeMessage, TOPICS } from '#contracts';
import { unique } from '../../../libs/bus/testing/sample-messages.ts';
import type { FactAt } from '../../../libs/contracts/testing/run-facts.ts';
import { until } from '../../../libs/runtime/testing/service-harness.ts';
import { factsOfRuns, openTelemetry, storedTexts, verifyStore } from '../testing/ledger-fixture.ts';

const brokers = process.env.TEST_KAFKA_BROKERS?.split(',') ?? [];

describe('telemetry comes back after the retention of its topics', () => {
  it('the gap is in the ledger before what comes after it, and the verification names it (G11)', async () => {
    const telemetry = await openTelemetry();
    const [topic, group] = [unique('run.events'), unique('telemetry')];
    const admin = new Kafka({ brokers, clientId: 'retention', logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    const open = async (): Promise<Bus> => {
      const bus = await createBus({ kind: 'kafka', brokers, clientId: 'telemetry', partitions: 1, topics: [topic] });
      bus.subscribe({ ...telemetry.parts.consumers[0]!, group, topics: [topic] });
      await bus.start();
      return bus;
    };
    const runs = [1, 2, 3].map((n) => factsOfRuns('acme', 1, n).filter((fact) => fact.topic === TOPICS.runEvents)) as [
      FactAt[],
      FactAt[],
      FactAt[],
    ];
    const publish = async (bus: Bus, facts: readonly FactAt[]): Promise<void> => {
      for (const { message } of facts)
        await bus.publish([{ topic, key: message.runId!, value: encodeMessage(message) }]);
    };
    const stored = (): Promise<string[]> => storedTexts(telemetry, 'acme');

    const first = await open();
    await publish(first, runs[0]);
    await until(async () => (await stored()).length > 0);
    await first.drain();
    const before = (await stored()).length;
    await publish(first, [...runs[1], ...runs[2]]);
    await first.close();
    const [from, to] = [runs[0].length, runs[0].length + runs[1].length];
    await admin.fetchTopicOffsets(topic); // kafkajs looks for the leader only among topics that it knows
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: String(to) }] });

    const second = await open();
    await until(async () => (await stored()).length === 2 * before + 1);
    await second.drain();
    await second.close();
    await admin.disconnect();
    const { faults } = await verifyStore(telemetry, 'acme');
    expect(faults).toContainEqual(
      expect.objectContaining({
        kind: 'gap',
        sequence: before + 1,
        detail: `facts of ${topic}, partition 0, offsets from ${from} up to ${to - 1}, were deleted before they were recorded`,
      }),
    );
    expect(faults.map(({ detail }) => detail)).toContainEqual(
      expect.stringMatching(/^the start of run number 2 is missing/),
    );
    await telemetry.close();
  });
});
