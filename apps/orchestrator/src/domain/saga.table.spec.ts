import { callsDigest } from '#contracts';
import { callIdOf } from '#kernel';
import { approvalData, BUDGETS, failedData } from '../../testing/fixtures.ts';
import { callIds, RUN_ID, Scene, types } from '../../testing/scene.ts';
import { wakeAt } from './timers.ts';

const id = (n: number): string => callIdOf(RUN_ID, n);
const flag = (name: string): [string, unknown] => ['ops__set_flag', { name }];
const alerts: [string, unknown] = ['ops__read_alerts', { service: 'checkout' }];
const regions: [string, unknown] = ['ops__list_regions', ''];
const direct = (args: unknown) => ({
  proposals: [{ callId: id(1), tool: 'ops.set_flag', arguments: JSON.stringify(args) }],
});

describe('a direct call', () => {
  it('is proposed with what will run, and its run ends with it, exactly once', () => {
    const scene = new Scene();
    expect(types(scene.start('call', direct({ name: 'a' })))).toEqual(['RunStarted', 'CallProposed']);
    expect(scene.all('RunStarted')[0]!.data.callIds).toEqual([id(1)]);
    expect(scene.all('CallProposed')[0]!.data).toMatchObject({
      tool: 'ops.set_flag@1.0.0',
      pool: 'default',
      effectClass: 'call',
      arguments: { name: 'a', on: true },
      resources: ['flag:a'],
      operationKey: id(1),
      origins: { '/name': 'user', '/on': 'user' },
      driver: 'call',
    });
    expect(types(scene.settle(id(1), { effect: 'applied' }))).toEqual(['RunEnded']);
    expect(scene.all('RunEnded')[0]!.data).toEqual({
      status: 'completed',
      outcome: 'all_succeeded',
      cause: null,
      answer: null,
      episode: 1,
      turns: 0,
      callCount: 1,
      callsDigest: callsDigest([id(1)]),
    });
    expect(scene.settle(id(1), { effect: 'applied' })).toEqual([]);
    expect(wakeAt(scene.run!)).toBeNull();
  });

  it('with arguments that do not fit is rejected with the paths and reaches nobody (G2)', () => {
    const scene = new Scene();
    expect(types(scene.start('call', direct({ on: 'yes' })))).toEqual(['RunStarted', 'CallSettled', 'RunEnded']);
    const settled = scene.all('CallSettled')[0]!;
    expect(settled).toMatchObject({ topic: 'call.rejected', callId: id(1) });
    expect(settled.data).toMatchObject({
      settledBy: 'orchestrator',
      status: 'rejected',
      effect: 'none',
      error: { code: 'INVALID_ARGS', changeArguments: true },
    });
    expect(settled.data.error!.details!.map((d) => d.path).sort()).toEqual(['/name', '/on']);
    expect(scene.all('RunEnded')[0]!.data.outcome).toBe('no_effects');
  });

  it('the same start again says the same and decides nothing; another request under the id is a conflict (G7)', () => {
    const scene = new Scene();
    const first = scene.start('call', direct({ name: 'a' }));
    const again = scene.start('call', direct({ name: 'a' }));
    expect(again).toEqual([first[0]]);
    expect(scene.start('call', direct({ name: 'b' }))).toMatchObject([
      { type: 'CommandRefused', data: { code: 'IDEMPOTENCY_CONFLICT' } },
    ]);
    expect(scene.run!.state.calls).toHaveLength(1);
  });

  it('denied by policy: the run ends and says that nothing was done', () => {
    const scene = new Scene();
    scene.start('call', direct({ name: 'a' }));
    const denied = { ...failedData('denied', 'PERMISSION_DENIED'), settledBy: 'policy' as const };
    scene.settle(id(1), denied, { kind: 'policy' });
    expect(scene.all('RunEnded')[0]!.data).toMatchObject({ status: 'completed', outcome: 'no_effects' });
  });
});

describe('who may settle a call', () => {
  it('a settlement from another pool, another topic, another tenant or for a held call is dropped and counted', () => {
    const scene = new Scene();
    scene.start('agent');
    scene.turn(1, flag('a'), flag('b'));
    for (const from of [{ kind: 'pool', pool: 'other' }, { kind: 'policy' }, { kind: 'other' }] as const)
      expect(scene.settle(id(1), {}, from)).toEqual([]);
    expect(scene.settle(id(2))).toEqual([]);
    const data = failedData('failed');
    expect(
      scene.give({
        type: 'CallSettled',
        runId: RUN_ID,
        tenant: 'else',
        callId: id(1),
        from: { kind: 'pool', pool: 'default' },
        data,
      }),
    ).toEqual([]);
    expect(scene.dropped).toEqual(['foreign', 'foreign', 'foreign', 'foreign', 'foreign']);
    expect(types(scene.settle(id(1)))).toEqual(['CallProposed']);
  });

  it('a settled call never changes again, whatever comes late', () => {
    const scene = new Scene();
    scene.start('agent');
    scene.turn(1, flag('a'), alerts);
    scene.settle(id(1), failedData('failed'));
    scene.settle(id(1), { effect: 'applied' });
    scene.say('ApprovalRequested', approvalData('appr_1'), { callId: id(1) });
    expect(scene.call(id(1))).toMatchObject({ state: 'settled', status: 'failed' });
    expect(scene.dropped).toEqual(['late', 'late']);
  });
});

describe('parallel reads, serial writes', () => {
  it('reads next to each other go out together; a write waits for all before it and holds back all after it', () => {
    const scene = new Scene();
    scene.start('agent');
    const first = scene.turn(1, alerts, regions, flag('a'), flag('b'), alerts);
    expect(types(first)).toEqual(['TurnRecorded', 'CallProposed', 'CallProposed']);
    expect(scene.settle(id(2))).toEqual([]);
    expect(callIds(scene.settle(id(1)))).toEqual([id(3)]);
    expect(callIds(scene.settle(id(3)))).toEqual([id(4)]);
    expect(callIds(scene.settle(id(4)))).toEqual([id(5)]);
    expect(types(scene.settle(id(5)))).toEqual(['RequestTurn']);
  });

  it.each(['failed', 'outcome_unknown', 'denied', 'expired'] as const)(
    'after a write that ended %s later writes of the turn are DEPENDENCY_FAILED; reads go on',
    (status) => {
      const scene = new Scene();
      scene.start('agent');
      scene.turn(1, flag('a'), alerts, flag('b'), flag('c'));
      const from =
        status === 'denied' || status === 'expired'
          ? ({ kind: 'policy' } as const)
          : ({ kind: 'pool', pool: 'default' } as const);
      const after = scene.settle(
        id(1),
        { ...failedData(status), settledBy: from.kind === 'policy' ? 'policy' : 'executor' },
        from,
      );
      expect(after.map((e) => [e.type, e.callId])).toEqual([['CallProposed', id(2)]]);
      const last = scene.settle(id(2));
      expect(types(last)).toEqual(['CallSettled', 'CallSettled', 'RequestTurn']);
      expect(last[0]!.data).toMatchObject({
        status: 'rejected',
        error: { code: 'DEPENDENCY_FAILED' },
        argumentsDigest: expect.stringMatching(/^sha256:/),
      });
    },
  );

  it('never more calls are out than maxParallel', () => {
    const scene = new Scene();
    scene.start('agent', { budgets: { ...BUDGETS, maxParallel: 2 } });
    expect(types(scene.turn(1, alerts, alerts, alerts, regions))).toEqual([
      'TurnRecorded',
      'CallProposed',
      'CallProposed',
    ]);
    expect(callIds(scene.settle(id(2)))).toEqual([id(3)]);
    expect(callIds(scene.settle(id(3)))).toEqual([id(4)]);
  });
});

describe('the model loop', () => {
  it('hands back one result per proposal, in order, matched by id, whatever happened to it', () => {
    const scene = new Scene();
    expect(types(scene.start('agent'))).toEqual(['RunStarted', 'RequestTurn']);
    expect(scene.all('RequestTurn')[0]!.data).toMatchObject({ turn: 1, input: 'What is wrong?', results: [] });
    scene.turn(1, alerts, ['ops__no_such', {}], ['ops__set_flag', '{"name":"a","name":"b"}'], regions);
    scene.settle(id(4), { model: 'REGIONS' });
    const [request] = scene.settle(id(1), { model: 'ALERTS', sources: ['a1'] });
    expect(request).toMatchObject({ type: 'RequestTurn', topic: 'model.requests', data: { turn: 2 } });
    const { results, input } = scene.all('RequestTurn')[1]!.data;
    expect(input).toBeUndefined();
    expect(results.map((r) => [r.callId, r.providerCallId])).toEqual([1, 2, 3, 4].map((n) => [id(n), `p1-${n - 1}`]));
    expect(results[0]!.output).toBe('ALERTS');
    expect(JSON.parse(results[1]!.output)).toMatchObject({ ok: false, error: { code: 'UNKNOWN_TOOL' } });
    expect(JSON.parse(results[2]!.output)).toMatchObject({
      error: { code: 'INVALID_JSON', details: [{ path: '/name', rule: 'duplicateKey' }] },
    });
    expect(results[3]!.output).toBe('REGIONS');
    expect(types(scene.answer(2, 'All is well.'))).toEqual(['TurnRecorded', 'RunEnded']);
    expect(scene.all('RunEnded')[0]!.data).toMatchObject({
      status: 'completed',
      answer: 'All is well.',
      turns: 2,
      callCount: 4,
      outcome: 'no_effects',
    });
  });

  it('a write may cite only what reads of this run returned', () => {
    const scene = new Scene();
    scene.start('agent', { taskId: 'task-7' });
    scene.turn(1, alerts);
    scene.settle(id(1), { sources: ['alert-1', 'alert-2'] });
    const ticket = (evidence: string[]): [string, unknown] => [
      'ops__create_ticket',
      { severity: 'sev1', summary: 'down', evidence_ids: evidence },
    ];
    scene.turn(2, ticket(['alert-1', 'made-up']));
    expect(scene.all('CallSettled')[0]!.data.error).toMatchObject({
      code: 'INVALID_ARGS',
      details: [{ path: '/evidence_ids/1', rule: 'evidence' }],
    });
    scene.turn(3, ticket(['alert-2']));
    expect(scene.all('CallProposed')[1]!.data).toMatchObject({
      operationKey: 'dev/user:alice/task-7',
      origins: { '/evidence_ids': 'tool:*' },
    });
  });

  it.each([
    ['MODEL_REFUSED', 'stopped'],
    ['MODEL_UNAVAILABLE', 'failed'],
    ['MODEL_TRUNCATED', 'failed'],
  ] as const)('a turn that failed with %s ends the run as %s with the code', (code, status) => {
    const scene = new Scene();
    scene.start('agent');
    expect(types(scene.say('TurnFailed', { turn: 1, code, message: 'no' }))).toEqual(['RunEnded']);
    expect(scene.all('RunEnded')[0]!.data).toMatchObject({ status, cause: { code } });
  });

  it('an empty answer is a fault of the model, never a success', () => {
    const scene = new Scene();
    scene.start('agent');
    scene.answer(1, '  ');
    expect(scene.all('RunEnded')[0]!.data).toMatchObject({
      status: 'failed',
      cause: { code: 'MODEL_PROTOCOL' },
      answer: null,
    });
  });

  it('a turn that comes twice, or late, is folded once', () => {
    const scene = new Scene();
    scene.start('agent');
    scene.turn(1, alerts);
    expect(scene.turn(1, alerts, alerts)).toEqual([]);
    scene.settle(id(1));
    expect(scene.turn(1, alerts)).toEqual([]);
    expect(scene.run!.state.calls).toHaveLength(1);
  });
});
