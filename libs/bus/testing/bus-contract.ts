import { CountersignError, InfrastructureError } from '#kernel';
import { gate, recorder, started, until, type BusFeatures, type BusHarness } from './bus-harness.ts';
import { kafkaCases } from './kafka-cases.ts';
import { lifecycleCases } from './lifecycle-cases.ts';
import { otherSample, sample, sampleRun, unique } from './sample-messages.ts';

export const QUICK_RETRY = { maxAttempts: 3, firstDelayMs: 20, factor: 2, maxDelayMs: 100 };

/** What every adapter of the bus promises (B1–B6 of bus.port.ts; G4). */
export function busContract(name: string, features: BusFeatures, open: () => Promise<BusHarness>): void {
  describe(`the bus: ${name}`, () => {
    let harness: BusHarness;
    beforeAll(async () => {
      harness = await open();
    });
    afterAll(() => harness.close());
    const current = (): BusHarness => harness;

    deliveryCases(current);
    failureCases(current);
    kafkaCases(current);
    lifecycleCases(current, features);
  });
}

function deliveryCases(harness: () => BusHarness): void {
  it('delivers the messages of one key in the order of publishing, to every group (B2)', async () => {
    const topic = unique('order');
    const first = recorder(unique('first'), [topic]);
    const second = recorder(unique('second'), [topic], undefined, { concurrency: 3, maxBatch: 4 });
    const bus = await started(await harness().open(), first.spec, second.spec);
    const runs = Array.from({ length: 5 }, sampleRun);
    for (let n = 0; n < 40; n++) void bus.publish(runs.map((run, r) => sample(topic, `${r}:${n}`, run)));
    await until('both groups saw all', () => first.seen.length >= 200 && second.seen.length >= 200);
    for (const { ids } of [first, second]) {
      for (let r = 0; r < 5; r++) {
        expect(ids().filter((id) => id.startsWith(`${r}:`))).toEqual(Array.from({ length: 40 }, (_, n) => `${r}:${n}`));
      }
    }
    await bus.drain();
    await bus.close();
  });

  it('resolves `publish` only when the messages are safe, and hands over what was published, byte for byte (B1, B6)', async () => {
    const topic = unique('bytes');
    const group = recorder(unique('group'), [topic]);
    const bus = await started(await harness().open(), group.spec);
    const message = sample(topic, 'one', sampleRun(), { traceparent: 'é' });
    const value = Buffer.from(message.value);
    const published = bus.publish([message]);
    await published;
    message.value.fill(0); // the publisher's buffer is its own again
    await until('the message came', () => group.seen.length === 1);
    const { delivery } = group.seen[0]!;
    expect(delivery).toMatchObject({ topic, attempt: 1 });
    expect(delivery.key).toEqual(Buffer.from(message.key));
    expect(delivery.value).toEqual(value);
    expect(delivery.headers).toEqual({ traceparent: Buffer.from('é') });
    expect(() => Object.assign(group.seen[0]!.message, { tenant: 'other' })).toThrow(TypeError);
    await bus.drain();
    await bus.close();
  });

  it('skips types of the catalogue that a group does not accept, and types that nobody subscribed', async () => {
    const topic = unique('types');
    const group = recorder(unique('group'), [topic]);
    const bus = await started(await harness().open(), group.spec);
    await bus.publish([otherSample(topic, 'other'), sample(topic, 'mine'), sample(unique('nobody'), 'nowhere')]);
    await until('mine came', () => group.seen.length > 0);
    expect(group.ids()).toEqual(['mine']);
    expect(await harness().letters(topic)).toEqual([]);
    await bus.drain();
    await bus.close();
  });

  it('hands over in batches: what came while a batch was in work goes into the next one, up to the cap', async () => {
    const topic = unique('batch');
    const hold = gate();
    const group = recorder(unique('group'), [topic], () => hold.opened, { maxBatch: 10 });
    const bus = await started(await harness().open(), group.spec);
    const run = sampleRun();
    const published = [];
    for (let n = 0; n < 50; n++) published.push(bus.publish([sample(topic, String(n), run)]));
    await until('they are queued', () => bus.queued(group.spec.group) >= 40);
    hold.open();
    await Promise.all(published);
    await until('all came', () => group.seen.length === 50);
    expect(Math.max(...group.batches)).toBe(10);
    expect(group.batches.length).toBeLessThan(50);
    await bus.drain();
    await bus.close();
  });

  it('a slow group does not hold up another group', async () => {
    const topic = unique('slow');
    const hold = gate();
    const slow = recorder(unique('slow'), [topic], () => hold.opened);
    const quick = recorder(unique('quick'), [topic]);
    const bus = await started(await harness().open(), slow.spec, quick.spec);
    const published = bus.publish([sample(topic, 'a'), sample(topic, 'b')]);
    await until('the quick group saw both', () => quick.seen.length === 2);
    expect(slow.seen).toHaveLength(0);
    hold.open();
    await published;
    await until('the slow one too', () => slow.seen.length === 2);
    await bus.drain();
    await bus.close();
  });

  it('a `latest` group sees what is published after `start`, and its failures neither repeat nor become dead letters', async () => {
    const topic = unique('latest');
    const before = await started(await harness().open(), recorder(unique('durable'), [topic]).spec);
    await before.publish([sample(topic, 'before')]);
    const latest = recorder(unique('waiters'), [topic], (batch) => { if (batch.some((i) => i.message.id === 'bad')) throw new Error('no'); }, { from: 'latest' }); // prettier-ignore
    const bus = await started(await harness().open({ retry: QUICK_RETRY }), latest.spec);
    await bus.publish([sample(topic, 'bad'), sample(topic, 'after')]);
    await until('it came', () => latest.ids().includes('after'));
    expect(latest.ids()).toEqual(['after']);
    expect((await harness().letters(topic)).filter((letter) => letter.group === latest.spec.group)).toEqual([]);
    for (const each of [before, bus]) await each.drain().then(() => each.close());
  });
}

function failureCases(harness: () => BusHarness): void {
  it('gives a message again to the group that failed, and to no other, with its attempt (B4)', async () => {
    const topic = unique('again');
    const attempts: number[] = [];
    const failing = recorder(unique('failing'), [topic], (batch) => {
      const bad = batch.find((incoming) => incoming.message.id === 'flaky');
      if (!bad) return;
      if (batch.length === 1) attempts.push(bad.delivery.attempt);
      if (bad.delivery.attempt < 3) throw new Error('not yet');
    });
    const other = recorder(unique('other'), [topic]);
    const bus = await started(await harness().open({ retry: QUICK_RETRY }), failing.spec, other.spec);
    const run = sampleRun();
    const messages = [sample(topic, 'x', run), sample(topic, 'flaky', run, { own: '1' }), sample(topic, 'y', run)];
    await bus.publish(messages);
    await until('it got through', () => failing.ids().includes('flaky'));
    expect([...new Set(attempts)]).toEqual([1, 2, 3]);
    expect(failing.ids()).toEqual(['x', 'y', 'flaky']);
    const { delivery } = failing.seen.find((incoming) => incoming.message.id === 'flaky')!;
    expect(delivery).toMatchObject({
      topic,
      key: Buffer.from(run),
      value: messages[1]!.value,
      headers: { own: Buffer.from('1') },
    });
    expect(other.ids()).toEqual(['x', 'flaky', 'y']);
    expect(await harness().letters(topic)).toEqual([]);
    await bus.drain();
    await bus.close();
  });

  it('buries at once what the handler refuses for good (B4)', async () => {
    const topic = unique('refused');
    const group = recorder(unique('group'), [topic], (batch) => {
      if (batch.some((i) => i.message.id === 'refused')) throw new CountersignError('PERMISSION_DENIED', 'not for us');
    });
    const bus = await started(await harness().open(), group.spec);
    await bus.publish([sample(topic, 'refused'), sample(topic, 'fine')]);
    await until('it is buried', async () => (await harness().letters(topic)).length === 1);
    expect(await harness().letters(topic)).toMatchObject([
      { group: group.spec.group, handlerAttempts: 1, code: 'PERMISSION_DENIED' },
    ]);
    await until('the other came', () => group.seen.length === 1);
    await bus.drain();
    await bus.close();
  });

  it('holds work in place while the infrastructure is away: not counted, never a dead letter (B5)', async () => {
    const topic = unique('away');
    let failures = 0;
    const group = recorder(unique('group'), [topic], () => {
      if (++failures <= 4) throw new InfrastructureError('the database is away');
    });
    const bus = await started(await harness().open({ retry: { ...QUICK_RETRY, maxAttempts: 2 } }), group.spec);
    const run = sampleRun();
    await bus.publish([sample(topic, '1', run), sample(topic, '2', run)]);
    await until('both came', () => group.seen.length === 2);
    expect(group.seen.map((incoming) => incoming.delivery.attempt)).toEqual([1, 1]);
    expect(group.ids()).toEqual(['1', '2']);
    expect(await harness().letters(topic)).toEqual([]);
    await bus.drain();
    await bus.close();
  });

  it('tolerates duplicates: the same message twice is delivered twice', async () => {
    const topic = unique('twice');
    const group = recorder(unique('group'), [topic]);
    const bus = await started(await harness().open(), group.spec);
    const message = sample(topic, 'same');
    await bus.publish([message, message]);
    await until('both came', () => group.seen.length === 2);
    expect(group.ids()).toEqual(['same', 'same']);
    await bus.drain();
    await bus.close();
  });
}
