import { approvalData } from '../../testing/fixtures.ts';
import { alerts, begin, end, flag, id, view } from '../../testing/limited-run.ts';
import { callIds, Scene, types } from '../../testing/scene.ts';
import { budgetsOf } from './run-state.ts';

describe('a run goes on after a raise (R4)', () => {
  const exhausted = (): Scene => {
    const scene = begin({ maxTurns: 1 });
    scene.turn(1, alerts());
    scene.settle(id(1), view('X'));
    return scene;
  };

  it('the next episode asks the model with the results that waited, and ends with a number of its own', () => {
    const scene = exhausted();
    scene.now += 86_400_000;
    expect(types(scene.resume({ maxTurns: 2 }))).toEqual(['RunResumed', 'RequestTurn']);
    expect(scene.all('RunResumed')[0]!.data).toMatchObject({ episode: 2, budgets: { maxTurns: 2, maxCalls: 40 } });
    expect(scene.all('RequestTurn')[1]!.data).toMatchObject({ turn: 2, results: [{ callId: id(1), output: 'X' }] });
    scene.answer(2, 'Done.');
    expect(scene.all('RunEnded').map((e) => [e.data.episode, e.data.status])).toEqual([
      [1, 'budget_exhausted'],
      [2, 'completed'],
    ]);
    expect(new Set(scene.all('RunEnded').map((e) => e.id)).size).toBe(2);
  });

  it('the same command again says the same; another one meets a running run', () => {
    const scene = exhausted();
    const [first] = scene.resume({ maxTurns: 2 }, 'r1');
    scene.now += 5;
    expect(scene.resume({ maxTurns: 2 }, 'r1')).toEqual([first]);
    expect(scene.resume({ maxTurns: 3 }, 'r2')).toMatchObject([
      { type: 'CommandRefused', data: { commandId: 'r2', message: expect.stringContaining('awaiting_model') } },
    ]);
    expect(budgetsOf(scene.run!).maxTurns).toBe(2);
  });

  it.each([
    ['nothing', {}, 'maxTurns (1)'],
    ['the same', { maxTurns: 1 }, 'maxTurns (1)'],
    ['another limit', { maxCalls: 100 }, 'maxTurns (1)'],
    ['a lower limit beside', { maxTurns: 2, maxCalls: 1 }, 'maxCalls (40)'],
  ])('a raise of %s is refused and names what is needed', (_what, budgets, said) => {
    const scene = exhausted();
    expect(scene.resume(budgets)).toMatchObject([
      { type: 'CommandRefused', data: { code: 'INVALID_ARGS', message: expect.stringContaining(said) } },
    ]);
    expect(scene.run!.state.phase.name).toBe('ended');
  });

  it('another principal, a completed run, a direct call and an unknown run are refused', () => {
    const bob = { id: 'user:bob', kind: 'user' as const, roles: ['agent'] };
    expect(exhausted().resume({ maxTurns: 2 }, 'r', bob)).toMatchObject([{ data: { code: 'PERMISSION_DENIED' } }]);
    const done = begin({});
    done.answer(1, 'Done.');
    expect(done.resume({ maxTurns: 99 })).toMatchObject([
      { data: { message: expect.stringContaining('"completed"') } },
    ]);
    expect(new Scene().resume({ maxTurns: 99 })).toMatchObject([{ data: { code: 'NOT_FOUND' } }]);
  });

  it('a limit that is used up beside the one that ended the run is named before anything begins', () => {
    const scene = begin({ maxTurns: 1, maxResultBytes: 1 });
    scene.turn(1, alerts());
    scene.settle(id(1), view('12'));
    expect(scene.resume({ maxTurns: 2 })).toMatchObject([
      { data: { message: expect.stringContaining('maxResultBytes') } },
    ]);
  });

  it('maxCalls: the refused proposals do not count, and the model hears of them', () => {
    const scene = begin({ maxCalls: 1 });
    scene.turn(1, alerts('a'), alerts('b'));
    scene.settle(id(1));
    expect(end(scene).cause!.message).toContain('1 calls were made');
    scene.resume({ maxCalls: 2 });
    expect(scene.all('RequestTurn')[1]!.data.results.map((r) => r.output)).toEqual([
      expect.anything(),
      expect.stringContaining('BUDGET_EXHAUSTED'),
    ]);
    scene.turn(2, alerts('b'));
    expect(callIds(scene.all('CallProposed'))).toEqual([id(1), id(3)]);
  });

  it('the wall clock goes on with what was added; a turn that was under way is asked for again by its number', () => {
    const scene = begin({ wallClockMs: 1000 });
    scene.wake(scene.now + 1000);
    expect(end(scene).cause!.limit).toBe('wallClockMs');
    scene.turn(1, alerts());
    expect(scene.dropped).toEqual(['late']);
    scene.resume({ wallClockMs: 3000 });
    expect(scene.all('RequestTurn').map((e) => e.data.turn)).toEqual([1, 1]);
    expect(scene.run!.state.clock).toEqual({ leftMs: 2000, since: scene.now });
    scene.turn(1, alerts());
    expect(scene.call(id(1)).state).toBe('proposed');
  });

  it('a client-driven run takes proposals again', () => {
    const scene = begin({ maxCalls: 1 }, 'client');
    scene.propose('c1', [id(1), id(2)], 'ops.read_alerts', { service: 'a' });
    scene.settle(id(1));
    expect(end(scene).status).toBe('budget_exhausted');
    expect(types(scene.resume({ maxCalls: 5 }))).toEqual(['RunResumed']);
    expect(types(scene.propose('c2', [id(3)], 'ops.read_alerts', { service: 'b' }))).toEqual(['CallProposed']);
  });
});

describe('waiting for a person', () => {
  it('takes nothing of the wall clock, also over an end by another limit', () => {
    const scene = begin({ maxTurns: 1, wallClockMs: 10_000 });
    scene.turn(1, flag());
    scene.now += 1_000;
    scene.say('ApprovalRequested', approvalData('appr_1'), { callId: id(1) });
    scene.now += 86_400_000;
    scene.settle(id(1), { approvalId: 'appr_1' });
    expect(end(scene).cause!.limit).toBe('maxTurns');
    expect(scene.run!.state.clock).toEqual({ leftMs: 9_000, since: null });
  });
});
