import { callsDigest } from '#contracts';
import { reconciledData } from '../../../../libs/contracts/testing/unknown-facts.ts';
import { alice, failedData } from '../../testing/fixtures.ts';
import { types } from '../../testing/scene.ts';
import { UndoScene } from '../../testing/undoable.ts';
import { runView } from './run-view.ts';

const failed = failedData('failed');
const told = (scene: UndoScene) => scene.all('CompensationEnded').at(-1)!.data;
const ended = (scene: UndoScene) => scene.all('RunEnded').at(-1)!.data;
const statuses = (scene: UndoScene) => runView(scene.run!).calls.map((call) => call.status);

describe('the way back of a run (C1–C7)', () => {
  it('undoes what succeeded, the last first, with arguments from the call and its result, then ends (G9)', () => {
    const scene = new UndoScene().begin({ onFailure: 'compensate' });
    const [first, second] = [scene.write('book', 'a'), scene.write('book', 'a')];
    scene.write('note', 'a', failed);
    scene.finish();
    expect([...scene.undos().keys()]).toEqual([second]);
    expect(runView(scene.run!)).toMatchObject({ compensation: 'running', status: 'awaiting_calls' });
    expect(scene.all('CallProposed').at(-1)!.data).toMatchObject({
      tool: 'shop.unbook@1.0.0',
      effectClass: 'undo',
      arguments: { seat: 'a', booking: 'b-a', why: 'undo' },
      undoes: { callId: second },
      resources: ['seat:a'],
    });
    scene.undone(second);
    expect([...scene.undos().keys()]).toEqual([first]);
    scene.undone(first);
    expect(told(scene)).toMatchObject({ status: 'done', undone: [second, first], remainder: [], kept: [] });
    const callIds = scene.run!.state.calls.map((call) => call.callId);
    expect(ended(scene)).toMatchObject({ episode: 1, callCount: 5, callsDigest: callsDigest(callIds) });
    expect(statuses(scene)).toEqual(['compensated', 'compensated', 'failed', 'succeeded', 'succeeded']);
    expect(runView(scene.run!).compensation).toBe('done');
    expect(types(scene.said).slice(-3)).toEqual(['CallProposed', 'CompensationEnded', 'RunEnded']);
  });

  it('independent calls are undone side by side, up to maxParallel', () => {
    const scene = new UndoScene().begin({ onFailure: 'compensate' });
    const ids = ['a', 'b', 'c'].map((seat) => scene.write('book', seat));
    scene.write('note', 'd', failed);
    scene.finish();
    expect([...scene.undos().keys()].sort()).toEqual([...ids].sort());
  });

  it('keeps everything unless it is told otherwise; a good end is never undone by itself', () => {
    for (const onFailure of ['keep', 'compensate'] as const) {
      const scene = new UndoScene().begin({ onFailure });
      scene.write('book', 'a');
      if (onFailure === 'keep') scene.write('note', 'a', failed);
      scene.finish();
      expect(ended(scene)).toMatchObject({ status: 'completed' });
      expect(scene.all('CompensationStarted')).toEqual([]);
    }
  });

  it('a replay is not undone, a read neither (C1)', () => {
    const scene = new UndoScene().begin();
    scene.write('book', 'a', { ...scene.booked('a'), replayed: true });
    scene.finish();
    expect(types(scene.compensate())).toEqual(['CommandRefused']);
  });

  it('a point of no return stops the way back (C4)', () => {
    const scene = new UndoScene().begin();
    const first = scene.write('book', 'a');
    const pivot = scene.write('send', 'b', { effect: 'applied' });
    const last = scene.write('book', 'c');
    scene.finish();
    scene.compensate();
    scene.undone(last);
    expect(told(scene)).toMatchObject({ status: 'done', undone: [last], kept: [first, pivot] });
  });

  it('an unknown outcome is never undone; what it lies upon is left, what it does not goes on (C1, C3)', () => {
    const scene = new UndoScene().begin({ onFailure: 'compensate' });
    const [apart, below] = [scene.write('book', 'b'), scene.write('book', 'a')];
    const unknown = scene.write('book', 'a', failedData('outcome_unknown', 'OUTCOME_UNKNOWN'));
    scene.finish();
    expect([...scene.undos().keys()]).toEqual([apart]);
    scene.undone(apart);
    expect(told(scene)).toMatchObject({
      status: 'partial',
      undone: [apart],
      remainder: [
        { callId: unknown, reason: 'outcome_unknown' },
        { callId: below, reason: 'blocked' },
      ],
    });
    expect(scene.compensate('comp-2', { calls: [{ callId: unknown, how: 'retry' }] })[0]!.data).toMatchObject({
      code: 'INVALID_ARGS',
    });
    scene.compensate('comp-3', {
      calls: [
        { callId: unknown, how: 'skip', reason: 'seen' },
        { callId: below, how: 'retry' },
      ],
    });
    scene.undone(below);
    expect(told(scene)).toMatchObject({ status: 'done', skipped: [unknown], undone: [below, apart] });
  });

  it.each([
    ['succeeded', 'applied', 'waits for its undo'],
    ['failed', 'none', 'has nothing to undo'],
  ] as const)('an unknown outcome that becomes known as %s (%s) on the way back %s', (status, effect, _what) => {
    const scene = new UndoScene().begin({ onFailure: 'compensate' });
    const apart = scene.write('book', 'b');
    const unknown = scene.write('book', 'a', failedData('outcome_unknown', 'OUTCOME_UNKNOWN'));
    scene.finish();
    const data = reconciledData({ status, effect, result: status === 'succeeded' ? scene.booked('a').result! : null });
    scene.say('CallReconciled', data, { callId: unknown, from: { kind: 'pool', pool: 'default' } });
    expect([...scene.undos().keys()]).toEqual(status === 'succeeded' ? [apart, unknown] : [apart]);
    if (status === 'succeeded') scene.undone(unknown);
    scene.undone(apart);
    expect(told(scene)).toMatchObject({ status: 'done', remainder: [] });
  });

  it('a failed undo leaves the exact remainder; a person retries, skips or says that it is done (C6)', () => {
    const scene = new UndoScene().begin();
    const [one, two, three] = ['a', 'b', 'c'].map((seat) => scene.write('book', seat)) as [string, string, string];
    scene.finish();
    scene.compensate();
    for (const callId of [one, two, three]) scene.undoFails(callId);
    expect(told(scene)).toMatchObject({ status: 'partial', episode: 2 });
    expect(told(scene).remainder.map(({ callId, reason }) => [callId, reason])).toEqual(
      [three, two, one].map((callId) => [callId, 'undo_failed']),
    );
    expect(statuses(scene).slice(0, 3)).toEqual(Array(3).fill('compensation_failed'));
    const calls = [
      { callId: one, how: 'retry' },
      { callId: two, how: 'skip', reason: 'it may stay' },
      { callId: three, how: 'done', evidence: 'by hand' },
    ];
    scene.compensate('comp-2', { calls });
    expect(scene.all('CompensationStarted').at(-1)!.data).toMatchObject({ round: 2, episode: 3, leftovers: calls });
    const keys = scene.all('CallProposed').filter(({ data }) => data.undoes?.callId === one);
    expect(new Set(keys.map(({ data }) => data.operationKey)).size).toBe(1);
    expect(new Set(keys.map(({ callId }) => callId)).size).toBe(2);
    scene.undone(one);
    expect(told(scene)).toMatchObject({ status: 'done', undone: [three, one], skipped: [two], remainder: [] });
    expect(ended(scene)).toMatchObject({ episode: 3, status: 'completed', callCount: 7 });
  });

  it('an undo whose outcome is unknown is told as that (G9)', () => {
    const scene = new UndoScene().begin();
    const one = scene.write('book', 'a');
    scene.finish();
    scene.compensate();
    scene.undoFails(one, 'outcome_unknown');
    expect(told(scene).remainder).toMatchObject([{ callId: one, reason: 'undo_unknown' }]);
  });

  describe('an undo whose outcome becomes known after the round has ended', () => {
    const unclear = () => {
      const scene = new UndoScene().begin();
      const [below, one] = [scene.write('book', 'a'), scene.write('book', 'a')];
      scene.finish();
      scene.compensate();
      const undo = scene.undos().get(one)!;
      scene.settle(undo, failedData('outcome_unknown', 'OUTCOME_UNKNOWN'));
      const amend = (data: Parameters<typeof reconciledData>[0]) =>
        scene.say('CallReconciled', reconciledData(data), { callId: undo, from: { kind: 'pool', pool: 'default' } });
      expect(ended(scene)).toMatchObject({ episode: 2 });
      return { scene, below, one, undo, amend };
    };
    const amended = (scene: UndoScene) => scene.all('RunAmended').map(({ data }) => data);

    it('applied: the call is compensated, and what is left is told again, once (G9)', () => {
      const { scene, below, one, amend } = unclear();
      amend({ amendment: 2 });
      expect(statuses(scene)).toEqual(['succeeded', 'compensated', 'succeeded']);
      expect(amended(scene)).toMatchObject([
        {
          amendment: 1,
          outcome: 'all_succeeded',
          compensation: {
            round: 1,
            status: 'partial',
            undone: [one],
            remainder: [{ callId: below, reason: 'blocked' }],
          },
        },
      ]);
      amend({ amendment: 2 });
      amend({ amendment: 1, status: 'needs_human', effect: 'unknown' });
      expect(scene.all('RunAmended')).toHaveLength(1);
      scene.compensate('comp-2', { calls: [{ callId: below, how: 'retry' }] });
      scene.undone(below);
      expect(told(scene)).toMatchObject({ status: 'done', undone: [one, below], remainder: [] });
    });

    it('not applied: the call stands as it was, its undo failed, and a retry is another attempt of the same key', () => {
      const { scene, one, undo, amend } = unclear();
      amend({ status: 'failed', effect: 'none', result: null });
      expect(amended(scene)).toMatchObject([
        { compensation: { remainder: [{ callId: one, reason: 'undo_failed' }, {}] } },
      ]);
      expect(runView(scene.run!)).toMatchObject({ compensation: 'partial' });
      scene.compensate('comp-2', { calls: [{ callId: one, how: 'retry' }] });
      expect(scene.undos().get(one)).not.toBe(undo);
      expect(
        new Set(scene.all('CallProposed').flatMap(({ data }) => (data.undoes ? [data.operationKey] : []))).size,
      ).toBe(1);
    });

    it('after a retry has taken it back already, it changes nothing', () => {
      const { scene, one, amend } = unclear();
      scene.compensate('comp-2', { calls: [{ callId: one, how: 'retry' }] });
      scene.undone(one);
      amend({ status: 'failed', effect: 'none', result: null });
      expect(statuses(scene)[1]).toBe('compensated');
      expect(scene.all('RunAmended')).toEqual([]);
    });
  });

  it('a call that is known only after the round to have happened is left, not lost (C6)', () => {
    const scene = new UndoScene().begin();
    scene.write('book', 'b');
    const unknown = scene.write('book', 'a', failedData('outcome_unknown', 'OUTCOME_UNKNOWN'));
    scene.finish();
    scene.compensate();
    scene.undone([...scene.undos().keys()][0]!);
    const data = reconciledData({ result: scene.booked('a').result! });
    scene.say('CallReconciled', data, { callId: unknown, from: { kind: 'pool', pool: 'default' } });
    expect(scene.all('RunAmended')[0]!.data.compensation).toMatchObject({
      status: 'partial',
      remainder: [{ callId: unknown, reason: 'known_later' }],
    });
    scene.compensate('comp-2', { calls: [{ callId: unknown, how: 'retry' }] });
    scene.undone(unknown);
    expect(told(scene)).toMatchObject({ status: 'done' });
  });

  it('a mapping that does not fit and an undo tool that is not there are recorded as rejected undos with the reason', () => {
    const scene = new UndoScene().begin();
    const [unfit, lost] = [scene.write('book', 'a', { effect: 'applied' }), scene.write('lost', 'b')];
    scene.finish();
    scene.compensate();
    const refused = scene
      .all('CallSettled')
      .map(({ data }) => [data.undoes, data.status, data.error?.code, data.error?.message]);
    expect(refused).toEqual([
      [lost, 'rejected', 'UNKNOWN_TOOL', expect.stringContaining('shop.nowhere')],
      [unfit, 'rejected', 'INVALID_ARGS', expect.stringContaining('/id (for booking)')],
    ]);
    expect(told(scene)).toMatchObject({ status: 'partial' });
    expect(ended(scene).callCount).toBe(4);
  });

  it('the same command again says the same and begins nothing; another one in between is refused', () => {
    const scene = new UndoScene().begin();
    const one = scene.write('book', 'a');
    scene.finish();
    const [started] = scene.compensate();
    expect(scene.compensate()).toEqual([started]);
    expect(types(scene.compensate('comp-2'))).toEqual(['CommandRefused']);
    scene.undone(one);
    expect(scene.compensate()).toEqual([started, scene.all('RunEnded').at(-1)]);
    expect(types(scene.compensate('comp-3'))).toEqual(['CommandRefused']);
    expect(scene.all('CallProposed').filter(({ data }) => data.effectClass === 'undo')).toHaveLength(1);
  });

  it('a cancel in the middle waits for what is out and leaves the rest; its repeat changes nothing (C5)', () => {
    const scene = new UndoScene().begin({ onFailure: 'compensate' });
    const [first, second] = [scene.write('book', 'a'), scene.write('book', 'a')];
    scene.cancel();
    expect([...scene.undos().keys()]).toEqual([second]);
    expect(scene.cancel()).toEqual([]);
    const stop = { commandId: 'cancel-2', principal: alice };
    scene.say('CancelRun', stop);
    expect(scene.all('CompensationEnded')).toEqual([]);
    scene.undone(second);
    expect(told(scene)).toMatchObject({ undone: [second], remainder: [{ callId: first, reason: 'cancelled' }] });
    expect(ended(scene).status).toBe('cancelled');
  });

  it('an undo that nobody answers for is given up in its time; its late success counts (C5)', () => {
    const scene = new UndoScene().begin();
    const one = scene.write('book', 'a');
    scene.finish();
    scene.compensate();
    const undo = scene.undos().get(one)!;
    scene.wake(scene.now + 5_001);
    expect(scene.all('CompensationEnded')).toEqual([]);
    scene.wake(scene.now + 400_000);
    expect(told(scene).remainder).toMatchObject([{ callId: one, reason: 'undo_unanswered' }]);
    scene.settle(undo, { effect: 'applied' });
    expect(statuses(scene)[0]).toBe('compensated');
    expect(scene.all('RunAmended')[0]!.data.compensation).toMatchObject({ status: 'done', remainder: [] });
  });

  it('ask: the run waits for a person, who keeps or undoes; without an answer what was done stays', () => {
    const asked = (): UndoScene => {
      const scene = new UndoScene().begin({ onFailure: 'ask' });
      scene.write('book', 'a');
      scene.write('note', 'b', failed);
      scene.finish();
      expect(runView(scene.run!)).toMatchObject({ status: 'awaiting_user', compensation: 'none' });
      expect(scene.all('RunEnded')).toEqual([]);
      return scene;
    };
    const kept = asked();
    expect(types(kept.compensate('keep-1', { decision: 'keep' }))).toEqual(['RunEnded']);
    expect(types(kept.compensate('keep-1', { decision: 'keep' }))).toEqual(['RunEnded']);
    const undone = asked();
    expect(types(undone.compensate())).toEqual(['CompensationStarted', 'CallProposed']);
    const silent = asked();
    silent.wake(Date.parse(silent.all('CompensationAsked')[0]!.data.expiresAt));
    expect(ended(silent)).toMatchObject({ status: 'completed', outcome: 'some_failed' });
  });

  it('only who may keep the run says so, of its own tenant; what is left is named only after a way back (G12)', () => {
    const scene = new UndoScene().begin();
    const one = scene.write('book', 'a');
    const code = (own: object): unknown => (scene.compensate('comp-9', own)[0]!.data as { code?: string }).code;
    expect(code({ calls: [{ callId: one, how: 'retry' }] })).toBe('INVALID_ARGS');
    expect(code({ principal: { ...alice, id: 'user:eve' } })).toBe('PERMISSION_DENIED');
    scene.finish();
    expect(code({ principal: { ...alice, id: 'user:eve' } })).toBe('PERMISSION_DENIED');
    expect(code({ calls: [{ callId: `${one.slice(0, -4)}zzzz`, how: 'retry' }] })).toBe('INVALID_ARGS');
    expect(scene.all('CompensationStarted')).toEqual([]);
  });
});
