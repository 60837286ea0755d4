import { alice, approvalData, decisionData } from '../../testing/fixtures.ts';
import { alerts, begin, end, flag, id, view } from '../../testing/limited-run.ts';
import { callIds, Scene, types } from '../../testing/scene.ts';
import { statusOf } from './run-state.ts';
import type { ControlType } from './saga.types.ts';
import { deadlineOf, MAX_HOLD_MS } from './timers.ts';

const olga = { ...alice, id: 'user:olga', roles: ['operator'] };
const bob = { ...alice, id: 'user:bob', roles: ['operator'] };
let serial = 0;
const order = (scene: Scene, type: ControlType, principal = olga, reason?: string) =>
  scene.say(type, { commandId: `${type}-${++serial}`, principal, ...(reason === undefined ? {} : { reason }) });
const propose = (scene: Scene, n: number, principal = olga, name = `p${n}`) =>
  scene.say('ProposeCalls', {
    commandId: `cmd-${++serial}`,
    principal,
    requestDigest: `sha256:${String(serial).padStart(64, '0')}`,
    proposals: [{ callId: id(n), tool: 'ops.set_flag', arguments: JSON.stringify({ name }) }],
  });
const status = (scene: Scene) => statusOf(scene.run!.state);
const errorOf = (scene: Scene, callId: string) =>
  scene.all('CallSettled').find((one) => one.callId === callId)?.data.error?.code;

describe('a paused run (H1)', () => {
  it('begins no call and no turn; what is out comes to its end; handed back, it goes on where it was', () => {
    const scene = begin({ maxParallel: 1 });
    scene.turn(1, alerts('a'), alerts('b'));
    expect(types(order(scene, 'PauseRun'))).toEqual(['RunControlled']);
    expect(status(scene)).toBe('paused');
    expect(scene.settle(id(1))).toEqual([]);
    expect(types(order(scene, 'HandBackRun'))).toEqual(['RunControlled', 'CallProposed']);
    order(scene, 'PauseRun');
    expect(scene.settle(id(2))).toEqual([]);
    expect(types(order(scene, 'HandBackRun'))).toEqual(['RunControlled', 'RequestTurn']);
    expect(scene.all('RequestTurn').at(-1)!.data).not.toHaveProperty('note');
  });

  it('takes the turn that was out, and holds what it proposes; a final answer ends the run', () => {
    const scene = begin({});
    order(scene, 'PauseRun');
    expect(types(scene.turn(1, alerts()))).toEqual(['TurnRecorded']);
    expect(callIds(order(scene, 'HandBackRun'))).toEqual([undefined, id(1)]);
    scene.settle(id(1));
    order(scene, 'PauseRun');
    expect(types(scene.answer(2, 'done'))).toEqual(['TurnRecorded', 'RunEnded']);
    expect(end(scene)).toMatchObject({ status: 'completed', answer: 'done' });
  });

  it('its wall clock stands still, but not for ever (G8)', () => {
    const scene = begin({ wallClockMs: 60_000 });
    scene.now += 10_000;
    order(scene, 'PauseRun');
    expect(deadlineOf(scene.run!)).toBe(scene.now + MAX_HOLD_MS);
    scene.now += 3_600_000;
    order(scene, 'HandBackRun');
    expect(deadlineOf(scene.run!)).toBe(scene.now + 50_000);
    order(scene, 'PauseRun');
    scene.wake(deadlineOf(scene.run!)!);
    expect(end(scene)).toMatchObject({ status: 'budget_exhausted', cause: { limit: 'wallClockMs' } });
  });

  it('a client may go on proposing; it is held until the hand-back', () => {
    const scene = begin({}, 'client');
    order(scene, 'PauseRun', alice);
    expect(propose(scene, 1, alice)).toEqual([]);
    expect(callIds(order(scene, 'HandBackRun', alice)).at(-1)).toBe(id(1));
  });
});

describe('a run that a person has taken over (H2, H3)', () => {
  it('begins nothing of the model; the person proposes as themselves; the model is told how it went, without arguments and results', () => {
    const scene = begin({});
    scene.turn(1, flag('a'), flag('b'));
    scene.say('ApprovalRequested', approvalData('appr-1'), { callId: id(1) });
    const took = order(scene, 'TakeOverRun');
    expect(types(took)).toEqual(['RunControlled', 'CallSettled']);
    expect([errorOf(scene, id(2)), scene.call(id(2))]).toMatchObject(['CANCELLED', { status: 'cancelled' }]);
    const [proposed] = propose(scene, 7, olga, 'secret-name');
    expect(proposed).toMatchObject({ type: 'CallProposed', data: { principal: olga, origins: { '/name': 'user' } } });
    scene.settle(id(7), view('secret result'));
    scene.say('ApprovalDecided', decisionData('appr-1'), { callId: id(1) });
    expect(scene.settle(id(1), view('A'))).toEqual([]);
    expect(types(order(scene, 'HandBackRun', olga, 'the flag is set'))).toEqual(['RunControlled', 'RequestTurn']);
    const { note, results } = scene.all('RequestTurn').at(-1)!.data;
    expect(results.map(({ callId }) => callId)).toEqual([id(1), id(2)]);
    expect(note).toContain('user:olga');
    expect(note).toContain('- ops.set_flag@1.0.0: succeeded');
    expect(note).toContain('the flag is set');
    expect(note).not.toContain('secret');
    scene.turn(2, alerts());
    scene.settle(id(4));
    expect(scene.all('RequestTurn').at(-1)!.data).not.toHaveProperty('note');
  });

  it('the turn that was out brings nothing about: its calls end as CANCELLED, its final words do not end the run', () => {
    const scene = begin({});
    order(scene, 'TakeOverRun');
    expect(types(scene.turn(1, alerts(), flag()))).toEqual(['TurnRecorded', 'CallSettled', 'CallSettled']);
    expect(scene.all('CallProposed')).toEqual([]);
    expect(types(order(scene, 'HandBackRun'))).toEqual(['RunControlled', 'RequestTurn']);
    expect(scene.all('RequestTurn').at(-1)!.data.results).toHaveLength(2);
    order(scene, 'TakeOverRun');
    expect(types(scene.answer(2, 'done'))).toEqual(['TurnRecorded']);
    expect(status(scene)).toBe('taken_over');
    order(scene, 'HandBackRun');
    expect(scene.all('RequestTurn').at(-1)!.data).toMatchObject({ turn: 3, note: expect.stringContaining('no calls') });
  });

  it('handed back while the turn is still out, the model is told with the turn after it', () => {
    const scene = begin({});
    order(scene, 'TakeOverRun');
    propose(scene, 7);
    order(scene, 'HandBackRun');
    scene.turn(1, alerts());
    scene.settle(id(2));
    expect(scene.all('RequestTurn')).toHaveLength(1);
    scene.settle(id(7));
    expect(scene.all('RequestTurn').at(-1)!.data).toMatchObject({
      turn: 2,
      note: expect.stringContaining('ops.set_flag'),
    });
  });

  it('only that person proposes, and may finish; another keeper may take it from them', () => {
    const scene = begin({}, 'client');
    order(scene, 'TakeOverRun');
    expect(types(propose(scene, 1, alice))).toEqual(['CommandRefused']);
    expect(types(propose(scene, 1, bob))).toEqual(['CommandRefused']);
    expect(types(order(scene, 'TakeOverRun'))).toEqual(['CommandRefused']);
    expect(types(order(scene, 'TakeOverRun', bob))).toEqual(['RunControlled']);
    expect(types(propose(scene, 2, olga))).toEqual(['CommandRefused']);
    expect(types(propose(scene, 3, bob))).toEqual(['CallProposed']);
    const finish = (principal: typeof olga) => scene.say('FinishRun', { commandId: `f-${++serial}`, principal });
    expect(types(finish(alice))).toEqual(['CommandRefused']);
    expect(finish(bob)).toEqual([]);
    expect(types(scene.settle(id(3)))).toEqual(['RunEnded']);
    expect(end(scene)).toMatchObject({ status: 'completed', outcome: 'all_succeeded' });
  });

  it('a call that was denied to the model may be made by the person: policy judges', () => {
    const scene = begin({});
    scene.turn(1, flag('a'));
    scene.settle(id(1), { status: 'denied', settledBy: 'policy' }, { kind: 'policy' });
    order(scene, 'TakeOverRun');
    expect(types(propose(scene, 7, olga, 'a'))).toEqual(['CallProposed']);
  });

  it('a model that fails meanwhile ends the run after the calls of the person', () => {
    const scene = begin({});
    order(scene, 'TakeOverRun');
    propose(scene, 7);
    expect(scene.say('TurnFailed', { turn: 1, code: 'MODEL_UNAVAILABLE', message: 'away' })).toEqual([]);
    expect(types(scene.settle(id(7)))).toEqual(['RunEnded']);
    expect(end(scene).status).toBe('failed');
  });
});

describe('orders of people', () => {
  it('the same order again says the same, whatever came in between (H4)', () => {
    const scene = begin({});
    const data = { commandId: 'pause-x', principal: olga };
    const [said] = scene.say('PauseRun', data);
    order(scene, 'HandBackRun');
    expect(scene.say('PauseRun', data)).toEqual([said]);
    expect(scene.run!.state.control).toBeUndefined();
    expect(scene.all('RunControlled').map((one) => one.data.no)).toEqual([1, 2, 1]);
  });

  it.each(['PauseRun', 'TakeOverRun', 'HandBackRun'] as const)('%s is refused where it does not fit', (type) => {
    const scene = begin({});
    expect(order(scene, type, { ...alice, id: 'user:eve' })).toMatchObject([{ data: { code: 'PERMISSION_DENIED' } }]);
    expect(scene.say(type, { commandId: 'f', principal: olga }, { tenant: 'other' })).toMatchObject([
      { tenant: 'other', data: { code: 'NOT_FOUND' } },
    ]);
    scene.cancel();
    scene.answer(1, 'late');
    expect(types(order(scene, type))).toEqual(['CommandRefused']);
    expect(scene.all('RunControlled')).toEqual([]);
  });

  it('a hand-back of a free run and a hand on a direct call are refused', () => {
    expect(types(order(begin({}), 'HandBackRun'))).toEqual(['CommandRefused']);
    const scene = new Scene();
    scene.start('call', { proposals: [{ callId: id(1), tool: 'ops.set_flag', arguments: '{"name":"a"}' }] });
    expect(types(order(scene, 'PauseRun'))).toEqual(['CommandRefused']);
  });

  it('a cancelled run is nobody’s any more', () => {
    const scene = begin({});
    scene.turn(1, alerts());
    order(scene, 'TakeOverRun');
    scene.cancel();
    expect(status(scene)).toBe('awaiting_calls');
    scene.settle(id(1));
    expect(end(scene).status).toBe('cancelled');
  });
});
