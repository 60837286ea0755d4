import { Writable } from 'node:stream';
import { runFacts, type FactAt } from '../../../../libs/contracts/testing/run-facts.ts';
import { until } from '../../../../libs/runtime/testing/service-harness.ts';
import { readEvents, type EventReader, type ReadEvent } from '../../testing/event-reader.ts';
import { openGateway, type HttpGateway } from '../../testing/http-gateway.ts';
import { storedAfter } from '../../testing/stored-progress.ts';
import { EventWriter } from './event-writer.ts';

/** Two gateway processes on one bus, whose state store knows what has been written there. */
describe('the events of a run over HTTP', () => {
  let gateways: HttpGateway[];
  let bases: string[];
  const stored = new Map<string, readonly FactAt[]>();
  const readers: EventReader[] = [];

  const open = (): Promise<HttpGateway> =>
    openGateway({
      env: {
        COUNTERSIGN_GATEWAY_STREAM_HEARTBEAT_MS: '200',
        COUNTERSIGN_GATEWAY_STREAMS_PER_CALLER: '3',
      },
      reads: {
        'state-store.run': ({ runId, tenant }: { runId: string; tenant: string }) =>
          stored.has(`${tenant} ${runId}`) ? { runId, tenant, principal: 'user:alice' } : null,
        'state-store.progress': ({ runId, tenant }: { runId: string; tenant: string }) =>
          storedAfter(stored.get(`${tenant} ${runId}`) ?? []),
      },
    });
  beforeAll(async () => {
    gateways = [await open(), await open()];
    bases = [];
    for (const { app } of gateways) {
      await app.listen(0, '127.0.0.1');
      bases.push(await app.getUrl());
    }
  });
  afterAll(() => Promise.all(gateways.map((gateway) => gateway.close())));
  afterEach(() => {
    for (const reader of readers.splice(0)) reader.close();
  });

  const known = (facts: readonly FactAt[], { tenant, runId } = facts[0]!.message): void => {
    stored.set(`${tenant} ${runId!}`, facts);
  };
  const watch = async (at: number, runId: string, options: Parameters<typeof readEvents>[2] = {}) => {
    const reader = await readEvents(bases[at]!, `/v1/runs/${runId}/events`, options);
    readers.push(reader);
    return reader;
  };
  const happens = async (facts: readonly FactAt[]): Promise<void> => {
    for (const { topic, message } of facts) {
      if (topic === 'call.proposed' || topic.startsWith('call.returned')) continue;
      for (const { service } of gateways) await service.deliver(topic, message);
    }
  };
  const types = (events: readonly ReadEvent[]): string[] => events.map((event) => event.type);
  const lines = (events: readonly ReadEvent[]): string[] =>
    events
      .map(({ type, data }) => `${type} ${JSON.stringify(data)}`)
      .filter((line) => !line.includes(`appr_${'1'.repeat(26)}`))
      .sort();

  it('come as they happen, straight from the bus, and end after run.ended', async () => {
    const { runId, facts } = runFacts();
    known(facts.slice(0, 1));
    const reader = await watch(0, runId);
    expect(reader).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' },
    });
    await until(() => reader.events.length === 1);
    await happens(facts);
    await until(() => reader.ended);
    expect(types(reader.events)[0]).toBe('run.started');
    expect(reader.events.at(-1)).toMatchObject({ type: 'run.ended', data: { runId, status: 'completed', turns: 2 } });
    expect(types(reader.events)).toEqual(
      expect.arrayContaining(['turn.recorded', 'approval.requested', 'call.settled']),
    );
    expect(new Set(reader.events.map((event) => event.id)).size).toBe(reader.events.length);
    expect(reader.text).not.toMatch(/sanitized|never shown|for the model/);
  });

  it('go on at another process behind the last id: nothing is missed, nothing comes twice', async () => {
    const { runId, facts } = runFacts();
    known(facts.slice(0, 1));
    const first = await watch(0, runId);
    await happens(facts.slice(0, 8));
    await until(() => types(first.events).includes('approval.requested'));
    first.close();
    const kept = [...first.events];
    // What happens while nobody is connected is known by stored state alone.
    known(facts.slice(0, 12));
    const second = await watch(1, runId, { lastEventId: kept.at(-1)!.id });
    await happens(facts.slice(12));
    await until(() => second.ended);
    const whole = [...kept, ...second.events];
    known(facts);
    const fresh = await watch(1, runId);
    await until(() => fresh.ended);
    expect(lines(whole)).toEqual(lines(fresh.events));
    const over = await watch(0, runId, { lastEventId: second.events.at(-1)!.id });
    expect(over.status).toBe(204);
  });

  it('what passed before it was stored is found there later', async () => {
    const { runId, facts } = runFacts();
    known(facts.slice(0, 1));
    const reader = await watch(0, runId);
    await until(() => reader.events.length === 1);
    known(facts);
    await until(() => reader.ended);
    expect(reader.events.at(-1)!.type).toBe('run.ended');
  });

  it('a silent stream gives signs of life', async () => {
    const { runId, facts } = runFacts();
    known(facts.slice(0, 1));
    const reader = await watch(0, runId);
    await until(() => reader.comments.length >= 2);
    expect(types(reader.events)).toEqual(['run.started']);
  });

  it('of a foreign tenant or person are not there (G12)', async () => {
    const { runId, facts } = runFacts();
    known(facts);
    for (const as of ['dev.other.alice.agent', 'dev.dev.eve.agent', 'dev.other.olga.operator'])
      expect(await watch(0, runId, { as })).toMatchObject({ status: 404 });
    expect(await watch(0, runId, { as: 'dev.dev.olga.operator' })).toMatchObject({ status: 200 });
    expect(await watch(0, 'run_none')).toMatchObject({ status: 404 });
  });

  it('messages of another tenant reach no stream (G12)', async () => {
    const mine = runFacts();
    known(mine.facts.slice(0, 1));
    const reader = await watch(0, mine.runId);
    await happens(runFacts('other', mine.runId).facts);
    await happens(mine.facts.slice(1, 2));
    await until(() => reader.events.length === 2);
    expect(types(reader.events)).toEqual(['run.started', 'turn.recorded']);
  });

  it.each([
    ['an id of no stream', { lastEventId: '17' }, 400, 'header:Last-Event-ID'],
    ['a form that there is not', { headers: { accept: 'application/json' } }, 406, 'header:Accept'],
    ['nobody', { headers: { authorization: 'Bearer nobody' } }, 401, undefined],
  ])('%s is refused', async (_name, options, status, path) => {
    const { runId, facts } = runFacts();
    known(facts);
    const reader = await watch(0, runId, options);
    await until(() => reader.ended);
    expect(reader.status).toBe(status);
    expect(JSON.parse(reader.text)).toMatchObject({ status, details: path ? [{ path }] : [] });
  });

  it('a caller may have only so many open; one that is closed makes room', async () => {
    const { runId, facts } = runFacts();
    known(facts.slice(0, 1));
    const open = await Promise.all([1, 2, 3].map(() => watch(0, runId)));
    const refused = await watch(0, runId);
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '5' } });
    expect(await watch(0, runId, { as: 'dev.dev.olga.operator' })).toMatchObject({ status: 200 });
    open[0]!.close();
    await until(async () => (await watch(0, runId)).status === 200);
  });

  it('a process that stops ends its streams and says so; the client goes on elsewhere', async () => {
    const { runId, facts } = runFacts();
    known(facts.slice(0, 1));
    const third = await open();
    await third.app.listen(0, '127.0.0.1');
    const reader = await readEvents(await third.app.getUrl(), `/v1/runs/${runId}/events`);
    await until(() => reader.events.length === 1);
    await third.close();
    await until(() => reader.ended);
    expect(reader.events.at(-1)).toMatchObject({ type: 'stream.closing', id: undefined });
  });
});

describe('a reader that is too slow', () => {
  it('is told so and dropped, with what it was sent bounded', async () => {
    const taken: string[] = [];
    let release: (() => void) | undefined;
    const slow = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        taken.push(chunk.toString());
        release = done;
      },
    });
    const writer = new EventWriter(slow, 1_000, 20);
    for (let i = 0; i < 100 && writer.open; i++) await writer.event('x', 'y'.repeat(100), `id-${i}`);
    expect(writer.open).toBe(false);
    expect(slow.writableLength).toBeLessThan(2_000);
    while (!slow.writableFinished) {
      release?.();
      await new Promise(setImmediate);
    }
    expect(taken.at(-1)).toMatch(/^event: stream\.dropped\ndata: /);
  });

  it('that catches up stays', async () => {
    const chunks: string[] = [];
    const fast = new Writable({
      highWaterMark: 10,
      write: (chunk: Buffer, _encoding, done) => {
        chunks.push(chunk.toString());
        setImmediate(done);
      },
    });
    const writer = new EventWriter(fast, 200, 10_000);
    for (let i = 0; i < 50; i++) await writer.event('x', 'y'.repeat(100), `id-${i}`);
    writer.end();
    await until(() => fast.writableFinished);
    expect(chunks).toHaveLength(51);
  });
});
