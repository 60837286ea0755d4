import { gate, recorder, started, until, type BusFeatures, type BusHarness } from './bus-harness.ts';
import { sample, sampleRun, unique } from './sample-messages.ts';

const range = (count: number): string[] => Array.from({ length: count }, (_, n) => String(n));

/** Start, stop, death and neighbours. */
export function lifecycleCases(harness: () => BusHarness, features: BusFeatures): void {
  const when = (applies: boolean): jest.It => (applies ? it : it.skip);

  it('a drain finishes what is in work and begins nothing more', async () => {
    const topic = unique('drain');
    const hold = gate();
    let inWork = 0;
    const group = recorder(unique('group'), [topic], () => ((inWork = 1), hold.opened), { maxBatch: 2 });
    const bus = await started(await harness().open(), group.spec);
    const run = sampleRun();
    const published = Promise.allSettled(range(6).map((id) => bus.publish([sample(topic, id, run)])));
    await until('work is at hand', () => inWork > 0);
    const drained = bus.drain();
    hold.open();
    await drained;
    const handled = group.ids();
    expect(handled.length).toBeGreaterThan(0);
    expect(handled.length).toBeLessThanOrEqual(2);
    const outcomes = await published;
    await bus.close();
    if (!features.keepsMessages) {
      expect(outcomes.map((o) => o.status)).toEqual(
        range(6).map((id) => (handled.includes(id) ? 'fulfilled' : 'rejected')),
      );
      return;
    }
    const next = recorder(group.spec.group, [topic]);
    const successor = await started(await harness().open(), next.spec);
    await until('the rest came', () => next.seen.length === 6 - handled.length);
    expect([...handled, ...next.ids()]).toEqual(range(6));
    await successor.drain();
    await successor.close();
  });

  when(!features.keepsMessages)('a bus that stops tells the publisher what was not handled (B1)', async () => {
    const topic = unique('stop');
    const group = recorder(unique('group'), [topic], () => new Promise<void>(() => undefined));
    const bus = await started(await harness().open(), group.spec);
    const published = bus.publish([sample(topic, 'lost')]);
    await bus.close();
    await expect(published).rejects.toThrow('stopped');
    await expect(bus.publish([sample(topic, 'late')])).rejects.toThrow('stopped');
  });

  when(features.keepsMessages)('what a killed consumer had not finished comes to its successor (G4)', async () => {
    const topic = unique('kill');
    const victim = recorder(unique('group'), [topic], (batch) => (batch.some((i) => i.message.id === '5') ? new Promise<void>(() => undefined) : undefined), { maxBatch: 1 }); // prettier-ignore
    const bus = await started(await harness().open(), victim.spec);
    const run = sampleRun();
    await bus.publish(range(10).map((id) => sample(topic, id, run)));
    await until('it hangs in the sixth', () => victim.seen.length === 5);
    await bus.close(); // without a drain: nothing more is committed
    const next = recorder(victim.spec.group, [topic]);
    const successor = await started(await harness().open(), next.spec);
    await until('the rest came', () => next.ids().includes('9'));
    expect(new Set([...victim.ids(), ...next.ids()])).toEqual(new Set(range(10)));
    expect(next.ids().slice(-5)).toEqual(['5', '6', '7', '8', '9']);
    await successor.drain();
    expect(await harness().committed(victim.spec.group, topic)).toBe(10);
    await successor.close();
  });

  when(features.highWater)('fetching stops at the high-water mark and goes on below it', async () => {
    const topic = unique('high');
    const hold = gate();
    const group = recorder(unique('group'), [topic], () => hold.opened, { maxBatch: 50 });
    const bus = await started(await harness().open({ highWater: 100 }), group.spec);
    const run = sampleRun();
    for (const part of Array.from({ length: 20 }, (_, n) => n)) {
      await bus.publish(range(100).map((n) => sample(topic, `${part}-${n}`, run)));
      // a fetch brings at most what stands in the log: the mark is passed by one fetch, not by all
      if (part === 1) await until('the queue is full', () => bus.queued(group.spec.group) >= 100);
    }
    const full = bus.queued(group.spec.group);
    expect(full).toBeLessThan(2_000 - 50);
    hold.open();
    await until('all came', () => group.seen.length === 2_000);
    expect(new Set(group.ids()).size).toBe(2_000);
    await bus.drain();
    await bus.close();
  });

  when(features.members)(
    'two members share a group, and one takes over when the other leaves: nothing is lost (G4)',
    async () => {
      const topic = unique('members');
      const name = unique('group');
      const [one, two] = [recorder(name, [topic]), recorder(name, [topic])];
      const first = await started(await harness().open(), one.spec);
      const sent: string[] = [];
      const send = async (bus: typeof first, count: number): Promise<void> => {
        const ids = range(count).map((n) => `${sent.length + Number(n)}`);
        sent.push(...ids);
        await bus.publish(ids.map((id) => sample(topic, id)));
      };
      const all = (): Set<string> => new Set([...one.ids(), ...two.ids()]);
      await send(first, 60);
      const second = await started(await harness().open(), two.spec);
      await send(first, 200);
      await until('both work', () => one.seen.length > 60 && two.seen.length > 0);
      await until('all came', () => all().size === sent.length);
      await first.drain();
      await first.close();
      await send(second, 100);
      await until('the other one has all', () => all().size === sent.length);
      expect(one.seen.length + two.seen.length).toBeLessThan(sent.length * 2);
      await second.drain();
      await second.close();
    },
  );

  when(features.brokerRestart)('a restart of the broker loses nothing that was acknowledged (G4)', async () => {
    const topic = unique('restart');
    const group = recorder(unique('group'), [topic]);
    let fatal: unknown = null;
    const bus = await started(await harness().open({ onFatal: (error) => (fatal = error) }), group.spec);
    await bus.publish(range(50).map((id) => sample(topic, id)));
    await until('the first came', () => group.seen.length >= 50);
    expect(bus.healthy()).toBe(true);
    const restarted = harness().restartBroker();
    const published = bus.publish([sample(topic, 'meanwhile')]).catch(() => bus.publish([sample(topic, 'meanwhile')]));
    await restarted;
    await published;
    await bus.publish(range(50).map((id) => sample(topic, `after-${id}`)));
    await until('the rest came', () => new Set(group.ids()).size === 101);
    await until('it is healthy again', () => bus.healthy());
    expect(fatal).toBeNull();
    await bus.drain();
    await bus.close();
  });
}
