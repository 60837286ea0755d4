import fc from 'fast-check';
import { fillBudgets, message, type MessageData } from '#contracts';
import { newId } from '#kernel';
import { openService, type ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import { runFacts, type FactAt } from '../../../libs/contracts/testing/run-facts.ts';
import type { CallView, RunView } from './domain/show-views.ts';
import { stateStoreDoor } from './state-store.module.ts';

describe('the state store', () => {
  let store: ServiceHarness;
  beforeAll(async () => {
    store = await openService(stateStoreDoor, { env: { COUNTERSIGN_VIEW_PACE_MS: '0' } });
  });
  afterAll(() => store.close());

  const topics = (): Set<string> => new Set(store.parts.consumers.flatMap((consumer) => consumer.topics));
  const deliver = async (facts: readonly FactAt[]): Promise<void> => {
    for (const { topic, message } of facts) if (topics().has(topic)) await store.deliver(topic, message);
  };
  const run = (tenant: string, runId: string): Promise<RunView | null> => store.read('run', { tenant, runId });
  const call = (tenant: string, callId: string): Promise<CallView | null> => store.read('call', { tenant, callId });

  it('shows a run with its calls and what the journal says it changed', async () => {
    const { runId, callIds, facts } = runFacts();
    await deliver(facts);
    expect(await run('dev', runId)).toMatchObject({
      runId,
      driver: 'agent',
      agent: 'triage',
      principal: 'user:alice',
      status: 'completed',
      outcome: 'some_failed',
      cause: null,
      answer: 'done',
      taskId: 't',
      labels: { team: 'ops' },
      turns: 2,
      startedAt: '2026-01-01T00:00:00.000Z',
      endedAt: '2026-01-01T00:00:15.000Z',
      calls: [
        {
          callId: callIds[0],
          providerCallId: 'p-1',
          tool: 'ops.read@1.0.0',
          status: 'succeeded',
          errorCode: null,
          replayed: false,
          effect: 'none',
          approvalId: null,
        },
        {
          callId: callIds[1],
          tool: 'ops.write@1.0.0',
          status: 'succeeded',
          effect: 'applied',
          approvalId: `appr_${'2'.repeat(26)}`,
        },
        { callId: callIds[2], tool: 'no_such_tool', status: 'rejected', errorCode: 'UNKNOWN_TOOL', effect: 'none' },
      ],
      effects: [{ callId: callIds[1], tool: 'ops.write@1.0.0', effect: 'applied', resourceIds: ['T-1'] }],
    });
  });

  it('shows a call with its sanitized result, never its arguments or the text for the model (G10)', async () => {
    const { callIds, runId, facts } = runFacts();
    await deliver(facts);
    const view = await call('dev', callIds[1]!);
    expect(view).toMatchObject({
      runId,
      decision: 'ask',
      attempts: 1,
      durationMs: 12.5,
      error: null,
      result: { sanitized: { id: 'T-1' }, fault: null },
    });
    expect(JSON.stringify(view)).not.toMatch(/for the model alone|never shown/);
    expect(await call('dev', callIds[0]!)).toMatchObject({ decision: 'allow' });
    expect(await call('dev', callIds[2]!)).toMatchObject({
      decision: null,
      error: { code: 'UNKNOWN_TOOL' },
      result: null,
    });
    expect(await store.read('calls', { tenant: 'dev', runId })).toMatchObject({
      items: callIds.map((callId) => ({ callId })),
      next: null,
    });
  });

  it('says what an open run waits for', async () => {
    const { runId, facts } = runFacts();
    const seen: (string | undefined)[] = [];
    for (const count of [1, 4, 8, 10, 13]) {
      await deliver(facts.slice(0, count));
      seen.push((await run('dev', runId))?.status);
    }
    expect(seen).toEqual(['awaiting_model', 'awaiting_calls', 'awaiting_calls', 'awaiting_approval', 'awaiting_model']);
  });

  it('shows that people paused a run or took it over, in whatever order their orders come', async () => {
    const { runId, facts } = runFacts();
    const hand = (no: number, control: 'paused' | 'taken_over' | 'handed_back'): FactAt => ({
      topic: 'run.events',
      message: message(
        'RunControlled',
        { tenant: 'dev', runId, now: 0 },
        { commandId: `c${no}`, no, control, episode: 1, by: 'user:olga', reason: null },
      ),
    });
    await deliver([facts[0]!, hand(2, 'taken_over'), hand(1, 'paused')]);
    expect(await run('dev', runId)).toMatchObject({ status: 'taken_over' });
    expect(await store.read('progress', { tenant: 'dev', runId })).toMatchObject({
      controls: 2,
      control: 'taken_over',
    });
    expect(await store.read('runs', { tenant: 'dev', limit: 10, status: 'taken_over' })).toMatchObject({
      items: [{ runId }],
    });
    await deliver([hand(3, 'handed_back')]);
    await deliver([hand(1, 'paused')]);
    expect(await run('dev', runId)).toMatchObject({ status: 'awaiting_model' });
  });

  it('any order of the facts, with repeats, in batches of any size, gives the same views', async () => {
    const normal = runFacts();
    await deliver(normal.facts);
    const shape = async (tenant: string, runId: string, callIds: readonly string[]): Promise<string> => {
      const views = { run: await run(tenant, runId), calls: await Promise.all(callIds.map((id) => call(tenant, id))) };
      return JSON.stringify(views).replaceAll(runId.slice(4), '<run>');
    };
    const expected = await shape('dev', normal.runId, normal.callIds);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(normal.facts.length - 1), { maxLength: 12 }).chain((repeats) =>
          fc.tuple(
            fc.shuffledSubarray([...normal.facts.keys(), ...repeats], {
              minLength: normal.facts.length + repeats.length,
            }),
            fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 30, maxLength: 30 }),
          ),
        ),
        async ([order, sizes]) => {
          const { runId, callIds, facts } = runFacts();
          for (let i = 0, n = 0; i < order.length; i += sizes[n++ % sizes.length]!) {
            const batch = order.slice(i, i + sizes[n % sizes.length]!).map((index) => facts[index]!);
            const consumer = store.parts.consumers[0]!;
            await consumer.reduce(
              batch
                .filter((fact) => consumer.accepts.includes(fact.message.type))
                .map(({ topic, message }) => ({ message, delivery: { topic } })) as never,
            );
          }
          expect(await shape('dev', runId, callIds)).toBe(expected);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('a run that goes on after a limit is open again, in its next episode, whatever order its facts come in', async () => {
    const about = (runId: string, at: number) => ({ tenant: 'dev', runId, now: Date.UTC(2026, 0, 2, 0, 0, at) });
    const end = (runId: string, at: number, own: Partial<MessageData<'RunEnded'>>): FactAt => ({
      topic: 'run.events',
      message: message('RunEnded', about(runId, at), {
        status: 'budget_exhausted',
        outcome: 'no_effects',
        cause: null,
        episode: 1,
        callCount: 0,
        callsDigest: `sha256:${'0'.repeat(64)}`,
        turns: 1,
        answer: null,
        ...own,
      }),
    });
    const story = (runId: string): FactAt[] => [
      runFacts('dev', runId).facts[0]!,
      end(runId, 1, {
        cause: { code: 'BUDGET_EXHAUSTED', message: 'maxTurns', limit: 'maxTurns' },
        usage: { inputTokens: 3, outputTokens: 2, costUsd: null, resultBytes: 1 },
      }),
      {
        topic: 'run.events',
        message: message('RunResumed', about(runId, 2), { commandId: 'r', episode: 2, budgets: fillBudgets() }),
      },
      end(runId, 3, { status: 'cancelled', cause: { code: 'CANCELLED', message: 'no' }, episode: 2, turns: 2 }),
    ];
    const seen: unknown[] = [];
    const runId = newId('run');
    for (const fact of story(runId)) {
      await deliver([fact]);
      const { status, episode, cause, endedAt, usage } = (await run('dev', runId))!;
      seen.push([status, episode, (cause as { limit?: string } | null)?.limit, endedAt !== null, usage]);
    }
    const usage = { inputTokens: 3, outputTokens: 2, costUsd: null, resultBytes: 1 };
    expect(seen).toEqual([
      ['awaiting_model', 1, undefined, false, null],
      ['budget_exhausted', 1, 'maxTurns', true, usage],
      ['awaiting_model', 2, undefined, false, null],
      ['cancelled', 2, undefined, true, null],
    ]);
    const other = newId('run');
    await deliver(story(other).reverse());
    expect(await run('dev', other)).toMatchObject({ status: 'cancelled', episode: 2, turns: 2 });
  });

  it('a settlement counts only on a topic of the one who may settle', async () => {
    const { callIds, facts } = runFacts();
    const settled = facts.find((fact) => fact.message.type === 'CallSettled' && fact.message.callId === callIds[1])!;
    await store.deliver('call.decided', settled.message);
    expect(await call('dev', callIds[1]!)).toBeNull();
  });

  it('no id of one tenant is visible to another, nor collides with it (G12)', async () => {
    const mine = runFacts('dev');
    await deliver(mine.facts);
    expect(await run('other', mine.runId)).toBeNull();
    expect(await call('other', mine.callIds[0]!)).toBeNull();
    await deliver(runFacts('other', mine.runId).facts.slice(0, 1));
    expect(await run('dev', mine.runId)).toMatchObject({ status: 'completed' });
    expect(await run('other', mine.runId)).toMatchObject({ tenant: 'other', status: 'awaiting_model', calls: [] });
  });

  it('lists runs page by page, newest first, by status and principal', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) {
      const { runId, facts } = runFacts('listed');
      await deliver(i % 2 === 0 ? facts : facts.slice(0, 7));
      ids.push(runId);
    }
    const first = await store.read<{ items: RunView[]; next: string }>('runs', { tenant: 'listed', limit: 3 });
    const second = await store.read<{ items: RunView[]; next: string | null }>('runs', {
      tenant: 'listed',
      limit: 3,
      after: first.next,
    });
    expect([...first.items, ...second.items].map((view) => view.runId).sort()).toEqual([...ids].sort());
    expect(second.next).toBeNull();
    const waiting = await store.read<{ items: RunView[] }>('runs', {
      tenant: 'listed',
      limit: 10,
      status: 'awaiting_approval',
    });
    expect(waiting.items.map((view) => view.runId).sort()).toEqual([ids[1], ids[3]].sort());
    expect(
      (await store.read<{ items: RunView[] }>('runs', { tenant: 'listed', limit: 10, principal: 'user:eve' })).items,
    ).toEqual([]);
  });

  it('lists runs that carry all the labels asked for, and those of one agent', async () => {
    const { runId, facts } = runFacts('labelled');
    await deliver(facts);
    const asked = async (filter: object): Promise<string[]> =>
      (await store.read<{ items: RunView[] }>('runs', { tenant: 'labelled', limit: 10, ...filter })).items.map(
        (view) => view.runId,
      );
    expect(await asked({ labels: { team: 'ops' }, agent: 'triage' })).toEqual([runId]);
    expect(await asked({ labels: { team: 'ops', more: 'x' } })).toEqual([]);
    expect(await asked({ agent: 'other' })).toEqual([]);
  });

  it('lists calls page by page, newest first, by run, status and tool, without results', async () => {
    const mine = runFacts('calls');
    await deliver(mine.facts);
    await deliver(runFacts('calls').facts);
    const asked = (filter: object): Promise<{ items: CallView[]; next: string | null }> =>
      store.read('callsPage', { tenant: 'calls', ...filter });
    const first = await asked({ limit: 4 });
    const second = await asked({ limit: 4, after: first.next });
    expect(new Set([...first.items, ...second.items].map((view) => view.callId)).size).toBe(6);
    expect(second.next).toBeNull();
    expect((await asked({ runId: mine.runId })).items.map((view) => view.callId).sort()).toEqual(mine.callIds);
    expect((await asked({ runId: mine.runId, status: 'rejected' })).items).toMatchObject([{ tool: 'no_such_tool' }]);
    expect((await asked({ tool: 'ops.write' })).items).toHaveLength(2);
    expect((await asked({ tool: 'ops.writ' })).items).toEqual([]);
    expect((await asked({ tool: 'ops.write@1.0.0', runId: mine.runId })).items).toMatchObject([{ result: null }]);
    expect((await store.read<{ items: CallView[] }>('callsPage', { tenant: 'none' })).items).toEqual([]);
  });

  it('says how far a run and its calls have come, by rank', async () => {
    const { runId, callIds, facts } = runFacts();
    expect(await store.read('progress', { tenant: 'dev', runId })).toBeNull();
    await deliver(facts);
    expect(await store.read('progress', { tenant: 'dev', runId })).toMatchObject({
      turns: 2,
      endedRank: 1,
      status: 'completed',
      calls: callIds.map((callId) => ({ callId, rank: 1_000_000_000 })),
    });
    expect(await store.read('progress', { tenant: 'other', runId })).toBeNull();
  });

  it('texts that PostgreSQL cannot hold do not stop the fold', async () => {
    const { callIds, facts } = runFacts();
    const rejected = structuredClone(facts.find((fact) => fact.topic === 'call.rejected')!);
    (rejected.message.data as { tool: string }).tool = 'bad\0name';
    await deliver([rejected]);
    expect(await call('dev', callIds[2]!)).toMatchObject({ tool: 'bad\ufffdname' });
  });

  it('V1 shows what cancelling came to, in the settlement or after it, in whatever order the facts come (G9)', async () => {
    const late = { state: 'completed_anyway', evidence: 'settled_before', at: '2026-01-01T00:00:20.000Z' } as const;
    for (const reversed of [false, true]) {
      const { runId, callIds, facts } = runFacts();
      const cancelled = message(
        'CallCancellation',
        { tenant: 'dev', runId, callId: callIds[1]!, now: Date.parse(late.at) },
        late,
      );
      const all = [...facts, { topic: 'call.settled.default', message: cancelled }];
      await deliver(reversed ? all.reverse() : all);
      expect(await call('dev', callIds[1]!)).toMatchObject({ status: 'succeeded', cancellation: late });
      expect((await run('dev', runId))!.calls.map(({ cancellation }) => cancellation)).toEqual(
        callIds.map((id) => (id === callIds[1] ? late : null)),
      );
    }
  });
});
