import { callIdOf } from '#kernel';
import { alice, approvalData, BUDGETS, decisionData } from '../../testing/fixtures.ts';
import { callIds, RUN_ID, Scene, types } from '../../testing/scene.ts';
import { statusOf } from './run-state.ts';
import { deadlineOf, GRACE_MS, wakeAt } from './timers.ts';

const id = (n: number): string => callIdOf(RUN_ID, n);
const flag = (name: string): [string, unknown] => ['ops__set_flag', { name }];
const alerts: [string, unknown] = ['ops__read_alerts', { service: 'checkout' }];
const regions: [string, unknown] = ['ops__list_regions', ''];
const bob = { ...alice, id: 'user:bob' };
const direct = (args: unknown) => ({
  proposals: [{ callId: id(1), tool: 'ops.set_flag', arguments: JSON.stringify(args) }],
});

describe('limits (G8)', () => {
  it('maxTurns: the run ends after the last turn was answered, naming the limit', () => {
    const scene = new Scene();
    scene.start('agent', { budgets: { ...BUDGETS, maxTurns: 1 } });
    scene.turn(1, alerts);
    expect(types(scene.settle(id(1), { model: 'X' }))).toEqual(['RunEnded']);
    expect(scene.all('RunEnded')[0]!.data).toMatchObject({
      status: 'budget_exhausted',
      cause: { code: 'BUDGET_EXHAUSTED', message: expect.stringContaining('maxTurns') },
    });
    expect(scene.call(id(1))).toMatchObject({ output: 'X' });
  });

  it('maxCalls: what is beyond it is rejected, what is within it runs, then the run ends', () => {
    const scene = new Scene();
    scene.start('agent', { budgets: { ...BUDGETS, maxCalls: 2 } });
    scene.turn(1, alerts, alerts, alerts);
    expect(scene.all('CallSettled').map((e) => [e.callId, e.data.error?.code])).toEqual([[id(3), 'BUDGET_EXHAUSTED']]);
    scene.settle(id(1));
    expect(types(scene.settle(id(2)))).toEqual(['RunEnded']);
    expect(scene.all('RunEnded')[0]!.data).toMatchObject({
      status: 'budget_exhausted',
      callCount: 3,
      cause: { message: expect.stringContaining('maxCalls') },
    });
  });

  it('wallClockMs: held calls end, what is out is waited for, then the run ends, naming the limit', () => {
    const scene = new Scene();
    scene.start('agent');
    scene.turn(1, alerts, flag('a'));
    expect(types(scene.wake(deadlineOf(scene.run!)!))).toEqual(['CallSettled', 'CancelGranted']);
    expect(scene.all('CallSettled')[0]).toMatchObject({ callId: id(2), data: { error: { code: 'BUDGET_EXHAUSTED' } } });
    expect(types(scene.settle(id(1)))).toEqual(['RunEnded']);
    expect(scene.all('RunEnded')[0]!.data).toMatchObject({
      status: 'budget_exhausted',
      outcome: 'no_effects',
      cause: { message: expect.stringContaining('wallClockMs') },
    });
  });

  it('a silent pool does not keep a run for ever: after the grace period it ends as some_unknown; what comes later is kept', () => {
    const scene = new Scene();
    scene.start('call', direct({ name: 'a' }));
    scene.wake(deadlineOf(scene.run!)!);
    expect(scene.all('RunEnded')).toHaveLength(0);
    expect(deadlineOf(scene.run!)! - scene.now).toBe(GRACE_MS + 10_000);
    expect(types(scene.wake(deadlineOf(scene.run!)!))).toEqual(['RunEnded']);
    expect(scene.all('RunEnded')[0]!.data).toMatchObject({ status: 'budget_exhausted', outcome: 'some_unknown' });
    expect(scene.settle(id(1), { effect: 'applied' })).toEqual([]);
    expect(scene.call(id(1))).toMatchObject({ state: 'settled', status: 'succeeded' });
  });

  it('the wall clock stands still while only a person is waited for, and goes on afterwards', () => {
    const scene = new Scene();
    scene.start('call', direct({ name: 'a' }));
    scene.now += 100_000;
    scene.say('ApprovalRequested', approvalData('appr_1'), { callId: id(1) });
    expect(statusOf(scene.run!.state)).toBe('awaiting_approval');
    expect(deadlineOf(scene.run!)).toBeNull();
    scene.now += 7 * 86_400_000;
    scene.say('ApprovalDecided', decisionData('appr_1'), { callId: id(1) });
    expect(deadlineOf(scene.run!)! - scene.now).toBe(500_000);
    expect(scene.settle(id(1), { effect: 'applied', approvalId: 'appr_1' })).toHaveLength(1);
  });

  it('the deadline of a proposed call leaves the time that a person may take', () => {
    const scene = new Scene();
    scene.start('call', direct({ name: 'a' }));
    expect(scene.all('CallProposed')[0]!.data.runDeadline).toBe(scene.now + 600_000 + 3_600_000);
  });
});

describe('approvals fold by rank', () => {
  it('a decision that overtakes its request counts; the request is then history', () => {
    const scene = new Scene();
    scene.start('call', direct({ name: 'a' }));
    scene.say('ApprovalDecided', decisionData('appr_1'), { callId: id(1) });
    scene.say('ApprovalRequested', approvalData('appr_1'), { callId: id(1) });
    expect(scene.call(id(1))).toMatchObject({ state: 'decided', approved: true });
  });

  it('a new judgement with a higher number asks again', () => {
    const scene = new Scene();
    scene.start('call', direct({ name: 'a' }));
    scene.say('ApprovalRequested', approvalData('appr_1', 1), { callId: id(1) });
    scene.say('ApprovalDecided', decisionData('appr_1'), { callId: id(1) });
    scene.say('ApprovalRequested', approvalData('appr_2', 2), { callId: id(1) });
    expect(scene.call(id(1))).toMatchObject({ state: 'asked', approvalId: 'appr_2' });
    scene.say('ApprovalRequested', approvalData('appr_1', 1), { callId: id(1) });
    expect(scene.call(id(1))).toMatchObject({ state: 'asked', approvalId: 'appr_2' });
  });
});

describe('a client-driven run', () => {
  it('takes proposals, runs them by the same order, and completes when the client finishes', () => {
    const scene = new Scene();
    expect(types(scene.start('client'))).toEqual(['RunStarted']);
    expect(statusOf(scene.run!.state)).toBe('running');
    scene.propose('cmd-a', [id(1), id(2)], 'ops.set_flag', { name: 'a' });
    expect(callIds(scene.all('CallProposed'))).toEqual([id(1)]);
    expect(scene.say('FinishRun', { commandId: 'cmd-f', principal: alice })).toEqual([]);
    scene.settle(id(1), { effect: 'applied' });
    expect(types(scene.settle(id(2), { effect: 'applied' }))).toEqual(['RunEnded']);
    expect(scene.all('RunEnded')[0]!.data).toMatchObject({
      status: 'completed',
      outcome: 'all_succeeded',
      callCount: 2,
    });
  });

  it('the same command again decides nothing; the same ids with other content are refused', () => {
    const scene = new Scene();
    scene.start('client');
    scene.propose('cmd-a', [id(1)], 'ops.set_flag', { name: 'a' });
    expect(scene.propose('cmd-a', [id(1)], 'ops.set_flag', { name: 'a' })).toEqual([]);
    expect(scene.propose('cmd-b', [id(1)], 'ops.set_flag', { name: 'a' })).toEqual([]);
    const other = {
      commandId: 'cmd-c',
      principal: alice,
      requestDigest: `sha256:${'3'.repeat(64)}`,
      proposals: [{ callId: id(1), tool: 'ops.set_flag', arguments: '{}' }],
    };
    expect(scene.say('ProposeCalls', other)).toMatchObject([
      { type: 'CommandRefused', data: { code: 'IDEMPOTENCY_CONFLICT', commandId: 'cmd-c' } },
    ]);
  });

  it('commands that do not fit are refused: another principal, another driver, an ended or unknown run, a foreign callId', () => {
    const scene = new Scene();
    expect(scene.propose('cmd-a', [id(1)], 'ops.set_flag', {})).toMatchObject([{ data: { code: 'NOT_FOUND' } }]);
    scene.start('client');
    expect(scene.say('FinishRun', { commandId: 'cmd-f', principal: bob })).toMatchObject([
      { data: { code: 'PERMISSION_DENIED' } },
    ]);
    const foreign = callIdOf('run_01hzzzzzzz0000000000000001', 1);
    expect(scene.propose('cmd-x', [foreign], 'ops.set_flag', {})).toMatchObject([{ data: { code: 'INVALID_ARGS' } }]);
    scene.say('FinishRun', { commandId: 'cmd-f', principal: alice });
    expect(scene.all('RunEnded')).toHaveLength(1);
    expect(scene.propose('cmd-y', [id(9)], 'ops.set_flag', {})).toMatchObject([{ data: { code: 'CANCELLED' } }]);
    const driven = new Scene();
    driven.start('agent');
    expect(driven.propose('cmd-a', [id(1)], 'ops.set_flag', {})).toMatchObject([{ data: { code: 'INVALID_ARGS' } }]);
  });

  it('ends with its wall clock when the client is gone', () => {
    const scene = new Scene();
    scene.start('client');
    expect(types(scene.wake(deadlineOf(scene.run!)!))).toEqual(['RunEnded']);
  });
});

describe('re-drive (G4)', () => {
  it('open calls are proposed again, byte for byte, at growing distances', () => {
    const scene = new Scene();
    const [, proposed] = scene.start('call', direct({ name: 'a' }));
    const distances: number[] = [];
    for (let i = 0; i < 6; i++) {
      const before = scene.now;
      expect(scene.wake(wakeAt(scene.run!)!)).toEqual([proposed]);
      distances.push((scene.now - before) / 1000);
    }
    expect(distances).toEqual([5, 10, 20, 40, 60, 60]);
  });

  it('a model request is sent again with its results', () => {
    const scene = new Scene();
    scene.start('agent');
    scene.turn(1, alerts);
    const [request] = scene.settle(id(1), { model: 'X' });
    const [again] = scene.wake(scene.run!.state.drive!.at);
    expect({ ...again, at: 0 }).toEqual({ ...request, at: 0, causationId: undefined, correlationId: undefined });
  });

  it('while a person is waited for, the call is sent again once a minute; beside others that move, not at all', () => {
    const scene = new Scene();
    scene.start('agent');
    scene.turn(1, alerts, regions);
    scene.say('ApprovalRequested', approvalData('appr_1'), { callId: id(1) });
    expect(callIds(scene.wake(scene.run!.state.drive!.at))).toEqual([id(2)]);
    scene.settle(id(2));
    expect(scene.run!.state.drive!.at - scene.now).toBe(60_000);
    expect(callIds(scene.wake(scene.run!.state.drive!.at))).toEqual([id(1)]);
  });

  it('a wake before its time does nothing', () => {
    const scene = new Scene();
    scene.start('agent');
    const before = scene.run;
    expect(scene.wake(scene.now + 1)).toEqual([]);
    expect(scene.run).toBe(before);
  });
});
