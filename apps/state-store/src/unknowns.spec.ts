import fc from 'fast-check';
import { message, settledTopic, TOPICS } from '#contracts';
import { callIdOf } from '#kernel';
import { openService, type ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import type { FactAt } from '../../../libs/contracts/testing/run-facts.ts';
import { reconciledData, unknownFacts, unknownSettled } from '../../../libs/contracts/testing/unknown-facts.ts';
import type { CallView, RunView, UnknownView } from './domain/show-views.ts';
import { stateStoreDoor } from './state-store.module.ts';

const NOW = Date.UTC(2026, 0, 2);

describe('the views of unknown outcomes', () => {
  let store: ServiceHarness;
  beforeAll(async () => {
    store = await openService(stateStoreDoor, { env: { COUNTERSIGN_VIEW_PACE_MS: '0' } });
  });
  afterAll(() => store.close());
  const deliver = async (facts: readonly FactAt[]): Promise<void> => {
    for (const { topic, message } of facts) await store.deliver(topic, message);
  };
  const look = async (tenant: string, runId: string, callId: string) => ({
    run: await store.read<RunView>('run', { tenant, runId }),
    call: await store.read<CallView>('call', { tenant, callId }),
  });
  const unknowns = async (tenant: string, own: object = {}) =>
    store.read<{ items: UnknownView[]; next: string | null }>('unknowns', { tenant, ...own });

  it('G9 the call and the outcome of its run are as they are known now; attempts and who settled stay', async () => {
    const { runId, callId, facts } = unknownFacts();
    await deliver(facts.slice(0, 3));
    expect(await look('dev', runId, callId)).toMatchObject({
      run: { outcome: 'some_unknown', effects: [{ effect: 'unknown' }] },
      call: { status: 'outcome_unknown', errorCode: 'OUTCOME_UNKNOWN', attempts: 1 },
    });
    await deliver(facts.slice(3));
    const { run, call } = await look('dev', runId, callId);
    expect(run).toMatchObject({
      status: 'completed',
      outcome: 'all_succeeded',
      effects: [{ callId, effect: 'applied', resourceIds: ['T-1'] }],
    });
    expect(call).toMatchObject({
      status: 'succeeded',
      effect: 'applied',
      errorCode: null,
      error: null,
      attempts: 1,
      decision: 'allow',
      result: { sanitized: { id: 'T-1' } },
      reconciliation: { by: 'person', person: 'user:olga', amendment: 2, evidence: 'the ticket is there' },
    });
  });

  it('an undo names its call, which is compensated once the undo is known to have been applied, in any order', async () => {
    for (const turned of [false, true]) {
      const { runId, callId, facts } = unknownFacts();
      const undo = callIdOf(runId, ['undo', callId, '1']);
      const at = (own: object = {}) => ({ tenant: 'dev', runId, now: NOW, ...own });
      const topic = settledTopic('default');
      const settled = unknownSettled({ undoes: callId });
      const left = { round: 1, undone: [], skipped: [], kept: [] };
      const remainder = [{ callId, reason: 'undo_unknown' as const, undoCallId: undo }];
      const told = message('CompensationEnded', at(), { ...left, status: 'partial', episode: 2, remainder });
      const done = { ...left, status: 'done' as const, undone: [callId], remainder: [] };
      const amended = { episode: 2, amendment: 2, outcome: 'all_succeeded' as const, compensation: done };
      const later: FactAt[] = [
        { topic, message: message('CallSettled', at({ callId: undo }), settled) },
        { topic: TOPICS.runEvents, message: told },
        { topic, message: message('CallReconciled', at({ callId: undo }), reconciledData({ undoes: callId })) },
        { topic: TOPICS.runEvents, message: message('RunAmended', at(), amended) },
      ];
      await deliver([...facts, ...(turned ? later.toReversed() : later)]);
      const { run, call } = await look('dev', runId, callId);
      expect(call.status).toBe('compensated');
      expect(run).toMatchObject({ compensation: 'done', compensationReport: { undone: [callId], remainder: [] } });
      expect(run.calls.find((one) => one.callId === undo)).toMatchObject({ status: 'succeeded', undoes: callId });
    }
  });

  it('any order of the facts, with repeats, gives the same views', async () => {
    const normal = unknownFacts();
    await deliver(normal.facts);
    const shape = async (runId: string, callId: string) =>
      JSON.stringify(await look('dev', runId, callId)).replaceAll(runId.slice(4), '<run>');
    const expected = await shape(normal.runId, normal.callId);
    const indexes = [...normal.facts.keys(), ...normal.facts.keys()];
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray(indexes, { minLength: indexes.length }),
        fc.boolean(),
        async (order, together) => {
          const { runId, callId, facts } = unknownFacts();
          const inOrder = order.map((index) => facts[index]!);
          if (!together) await deliver(inOrder);
          else
            await store.parts.consumers[0]!.reduce(
              inOrder.map(({ topic, message }) => ({ message, delivery: { topic } })) as never,
            );
          expect(await shape(runId, callId)).toBe(expected);
        },
      ),
      { numRuns: 20 },
    );
  });

  it('the queue shows what waits for a person first, then the oldest; what is decided is gone (G12: the own tenant)', async () => {
    const made: string[] = [];
    for (const [n, humanTakeover] of [false, true, false, true].entries()) {
      const { runId, callId } = unknownFacts('queue');
      const error = { code: 'OUTCOME_UNKNOWN' as const, message: 'm', retryable: false, humanTakeover };
      const now = Date.UTC(2026, 0, 1) + n;
      const settled = message('CallSettled', { tenant: 'queue', runId, callId, now }, unknownSettled({ error }));
      await deliver([{ topic: 'call.settled.default', message: settled }]);
      made.push(callId);
    }
    const decided = unknownFacts('queue');
    await deliver(decided.facts);
    const { items } = await unknowns('queue');
    expect(items.map((item) => [made.indexOf(item.callId), item.needsHuman])).toEqual([
      [1, true],
      [3, true],
      [0, false],
      [2, false],
    ]);
    expect(items[0]!.ageMs).toBeGreaterThan(0);
    const first = await unknowns('queue', { limit: 3 });
    const rest = await unknowns('queue', { limit: 3, after: first.next });
    expect([...first.items, ...rest.items].map((item) => item.callId)).toEqual(items.map((item) => item.callId));
    expect((await unknowns('elsewhere')).items).toEqual([]);
  });

  it('an amendment of an episode that was followed by another end does not count', async () => {
    const { runId, callId, facts } = unknownFacts();
    await deliver(facts);
    const ended = facts.find(({ message }) => message.type === 'RunEnded')!.message;
    const second = {
      ...ended,
      id: 'msg_second',
      data: { ...(ended.data as object), episode: 2, outcome: 'some_failed' },
    };
    await deliver([{ topic: 'run.events', message: second as typeof ended }]);
    expect((await look('dev', runId, callId)).run.outcome).toBe('some_failed');
  });
});
