import { callIdOf } from '#kernel';
import { alice, approvalData, decisionData, failedData } from '../../testing/fixtures.ts';
import { RUN_ID, Scene, types } from '../../testing/scene.ts';
import { statusOf } from './run-state.ts';
import { runView } from './run-view.ts';
import { deadlineOf, GRACE_MS, wakeAt } from './timers.ts';

const id = (n: number): string => callIdOf(RUN_ID, n);
const alerts: [string, unknown] = ['ops__read_alerts', { service: 'a' }];
const flag: [string, unknown] = ['ops__set_flag', { name: 'a' }];
const end = (scene: Scene) => scene.all('RunEnded').at(-1)!.data;

describe('a cancelled run (G9)', () => {
  it('proposes nothing more: held calls end as cancelled, what is out is waited for, then the run ends', () => {
    const scene = new Scene();
    scene.start('agent');
    scene.turn(1, alerts, flag);
    expect(types(scene.cancel('not needed'))).toContain('CallSettled');
    expect(scene.all('CallSettled')[0]).toMatchObject({
      callId: id(2),
      data: { status: 'cancelled', effect: 'none', error: { code: 'CANCELLED' }, settledBy: 'orchestrator' },
    });
    expect(statusOf(scene.run!.state)).toBe('awaiting_calls');
    expect(types(scene.settle(id(1)))).toEqual(['RunEnded']);
    expect(end(scene)).toMatchObject({
      status: 'cancelled',
      outcome: 'no_effects',
      cause: { code: 'CANCELLED', message: 'The run was cancelled by user:alice: not needed' },
      callCount: 2,
    });
    expect(wakeAt(scene.run!)).toBeNull();
  });

  it('while the model is asked it ends at once; the answer that comes later is dropped', () => {
    const scene = new Scene();
    scene.start('agent');
    expect(types(scene.cancel())).toEqual(['RunEnded']);
    expect(scene.turn(1, flag)).toEqual([]);
    expect(scene.run!.state.calls).toEqual([]);
  });

  it('a write that happened all the same is reported as such', () => {
    const scene = new Scene();
    scene.start('agent');
    scene.turn(1, flag);
    scene.cancel();
    scene.settle(id(1), { effect: 'applied' });
    expect(end(scene)).toMatchObject({ status: 'cancelled', outcome: 'all_succeeded' });
  });

  it('a call that waits for a person is withdrawn, now and when the question comes later or was lost', () => {
    const scene = new Scene();
    scene.start('client');
    scene.propose('c1', [id(1), id(2)], 'ops.read_alerts', { service: 'a' });
    scene.say('ApprovalRequested', approvalData('appr_1'), { callId: id(1) });
    const [withdrawn] = scene.cancel();
    expect(withdrawn).toMatchObject({ type: 'WithdrawCall', topic: 'call.proposed', callId: id(1) });
    expect(scene.say('ApprovalRequested', approvalData('appr_2'), { callId: id(2) })).toMatchObject([
      { type: 'WithdrawCall', callId: id(2) },
    ]);
    expect(types(scene.wake(scene.run!.state.drive!.at))).toContain('WithdrawCall');
    const data = { ...failedData('cancelled'), settledBy: 'policy' as const };
    scene.settle(id(1), data, { kind: 'policy' });
    expect(types(scene.settle(id(2), data, { kind: 'policy' }))).toEqual(['RunEnded']);
    expect(end(scene)).toMatchObject({ status: 'cancelled', outcome: 'no_effects' });
  });

  it('the pool of a call that may have been granted is asked to cancel it, again with each drive until it is settled', () => {
    const scene = new Scene();
    scene.start('client');
    scene.propose('c1', [id(1), id(2)], 'ops.read_alerts', { service: 'a' });
    scene.say('ApprovalRequested', approvalData('appr_1'), { callId: id(1) });
    const told = scene.cancel().filter(({ type }) => type === 'CancelGranted');
    expect(told).toMatchObject([
      { topic: 'call.granted.default', callId: id(2), data: { principal: 'user:alice', begun: 'stop' } },
    ]);
    // A yes that was faster than the withdrawal: the grant is on its way to the pool, and the cancellation too.
    expect(scene.say('ApprovalDecided', decisionData('appr_1'), { callId: id(1) })).toMatchObject([
      { type: 'CancelGranted', callId: id(1) },
    ]);
    const again = scene.wake(scene.run!.state.drive!.at);
    expect(again.filter(({ type }) => type === 'CancelGranted').map(({ callId }) => callId)).toEqual([id(1), id(2)]);
    const cancellation = { state: 'nothing_happened', evidence: 'not_begun', at: '2026-01-01T00:00:01.000Z' } as const;
    scene.settle(id(1), { ...failedData('cancelled'), cancellation });
    scene.settle(id(2), { effect: 'none' });
    expect(scene.all('CancelGranted').filter(({ id: own }) => own === told[0]!.id)).toHaveLength(2);
    const late = { state: 'completed_anyway', evidence: 'settled_before', at: '2026-01-01T00:00:02.000Z' } as const;
    const pool = { callId: id(2), from: { kind: 'pool', pool: 'default' } };
    scene.say('CallCancellation', late, { ...pool, from: { kind: 'other' } });
    expect(runView(scene.run!).calls[1]!.cancellation).toBeNull();
    scene.say('CallCancellation', late, pool);
    expect(runView(scene.run!).calls.map((call) => call.cancellation)).toEqual([cancellation, late]);
  });

  it('a silent pool is waited for with its grace time, then the call is reported as unknown', () => {
    const scene = new Scene();
    scene.start('client');
    scene.propose('c1', [id(1)], 'ops.set_flag', { name: 'a' });
    scene.cancel();
    expect(deadlineOf(scene.run!)! - scene.now).toBe(10_000 + GRACE_MS);
    expect(types(scene.wake(deadlineOf(scene.run!)!))).toEqual(['RunEnded']);
    expect(end(scene)).toMatchObject({ status: 'cancelled', outcome: 'some_unknown' });
  });

  it('the same cancel again changes nothing and is answered with the end; a resume is refused', () => {
    const scene = new Scene();
    scene.start('client');
    scene.propose('c1', [id(1)], 'ops.set_flag', { name: 'a' });
    scene.cancel();
    const before = scene.run;
    expect(scene.cancel()).toEqual([]);
    expect(scene.run).toBe(before);
    const [ended] = scene.settle(id(1));
    scene.now += 10;
    expect(scene.cancel()).toMatchObject([{ id: ended!.id, at: ended!.at, data: ended!.data }]);
    expect(scene.resume({ maxTurns: 100 })).toMatchObject([{ type: 'CommandRefused' }]);
    expect(scene.propose('c2', [id(2)], 'ops.set_flag', { name: 'b' })).toMatchObject([
      { data: { code: 'CANCELLED' } },
    ]);
  });

  it('after its wall clock was over, a cancel decides how it ends', () => {
    const scene = new Scene();
    scene.start('agent');
    scene.turn(1, flag);
    scene.wake(deadlineOf(scene.run!)!);
    scene.cancel();
    scene.settle(id(1), failedData('failed'));
    expect(end(scene)).toMatchObject({ status: 'cancelled', outcome: 'some_failed' });
  });

  it('another principal, an ended and an unknown run are refused', () => {
    const scene = new Scene();
    expect(scene.cancel()).toMatchObject([{ data: { code: 'NOT_FOUND' } }]);
    scene.start('agent');
    expect(scene.cancel('x', { ...alice, id: 'user:bob' })).toMatchObject([{ data: { code: 'PERMISSION_DENIED' } }]);
    scene.answer(1, 'Done.');
    expect(scene.cancel()).toMatchObject([
      { type: 'CommandRefused', data: { message: expect.stringContaining('completed') } },
    ]);
  });
});
