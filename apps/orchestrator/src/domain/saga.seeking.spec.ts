import type { CallReconciled } from '#contracts';
import { reconciledData } from '../../../../libs/contracts/testing/unknown-facts.ts';
import { failedData, soughtData } from '../../testing/fixtures.ts';
import { types } from '../../testing/scene.ts';
import { UndoScene } from '../../testing/undoable.ts';
import { runView } from './run-view.ts';
import { SEEK_MS, wakeAt } from './timers.ts';

const told = (scene: UndoScene) => scene.all('CompensationEnded').at(-1)!.data;
const known = (scene: UndoScene, callId: string, own: Partial<CallReconciled> = {}) =>
  scene.say('CallReconciled', reconciledData(own), { callId, from: { kind: 'pool', pool: 'default' } });
const notApplied = { status: 'failed', effect: 'none', result: null } as const;

describe('the way back and outcomes that are being found out (C8)', () => {
  const begun = () => {
    const scene = new UndoScene().begin({ onFailure: 'compensate' });
    const below = scene.write('book', 'a');
    const unknown = scene.write('book', 'a', soughtData());
    scene.finish();
    expect([...scene.undos().keys()]).toEqual([]);
    expect(scene.all('CompensationEnded')).toEqual([]);
    return { scene, below, unknown };
  };

  it('one that was applied is undone first, then what lies under it', () => {
    const { scene, below, unknown } = begun();
    known(scene, unknown, { result: scene.booked('a').result! });
    expect([...scene.undos().keys()]).toEqual([unknown]);
    scene.undone(unknown);
    scene.undone(below);
    expect(told(scene)).toMatchObject({ status: 'done', undone: [unknown, below], remainder: [] });
  });

  it('one that was not applied is not undone, and no longer in the way', () => {
    const { scene, below, unknown } = begun();
    known(scene, unknown, notApplied);
    expect([...scene.undos().keys()]).toEqual([below]);
    scene.undone(below);
    expect(told(scene)).toMatchObject({ status: 'done', undone: [below], remainder: [] });
  });

  it.each([
    ['it takes too long', (scene: UndoScene) => scene.wake(scene.now + SEEK_MS), 'outcome_unknown', 'blocked'],
    ['it is cancelled', (scene: UndoScene) => scene.cancel(), 'outcome_unknown', 'cancelled'],
  ] as const)('%s: the exact remainder is handed to a person', (_why, give, first, second) => {
    const { scene, below, unknown } = begun();
    expect(wakeAt(scene.run!)).toBe(scene.now + SEEK_MS);
    give(scene);
    expect(told(scene)).toMatchObject({
      status: 'partial',
      remainder: [
        { callId: unknown, reason: first },
        { callId: below, reason: second },
      ],
    });
    known(scene, unknown, { result: scene.booked('a').result! });
    expect(scene.all('RunAmended').at(-1)!.data.compensation).toMatchObject({
      remainder: [{ reason: 'known_later' }, {}],
    });
  });

  it.each(['needs_human', 'partially_applied'] as const)(
    'found to be for a person (%s): it is left at once',
    (status) => {
      const { scene, unknown } = begun();
      known(scene, unknown, { status, effect: 'unknown', result: null });
      const reason = status === 'needs_human' ? 'outcome_unknown' : 'partially_applied';
      expect(told(scene).remainder).toMatchObject([{ callId: unknown, reason }, { reason: 'blocked' }]);
    },
  );

  it('one that only a person can find out is not waited for', () => {
    const scene = new UndoScene().begin({ onFailure: 'compensate' });
    scene.write('book', 'b');
    scene.write('book', 'a', failedData('outcome_unknown', 'OUTCOME_UNKNOWN'));
    scene.finish();
    scene.undone([...scene.undos().keys()][0]!);
    expect(told(scene)).toMatchObject({ status: 'partial' });
  });

  describe('an undo', () => {
    const unclear = () => {
      const scene = new UndoScene().begin();
      const [below, one] = [scene.write('book', 'a'), scene.write('book', 'a')];
      scene.finish();
      scene.compensate();
      const undo = scene.undos().get(one)!;
      scene.settle(undo, soughtData());
      expect(scene.all('CompensationEnded')).toEqual([]);
      return { scene, below, one, undo };
    };

    it('applied: the way back goes on', () => {
      const { scene, below, one, undo } = unclear();
      known(scene, undo);
      expect([...scene.undos().keys()]).toEqual([below]);
      scene.undone(below);
      expect(told(scene)).toMatchObject({ status: 'done', undone: [one, below] });
    });

    it('not applied: its failure is told as that', () => {
      const { scene, one, undo } = unclear();
      known(scene, undo, notApplied);
      expect(told(scene).remainder).toMatchObject([{ callId: one, reason: 'undo_failed' }, { reason: 'blocked' }]);
    });

    it('not found out in time: a person gets it as unknown, and what is known later is told', () => {
      const { scene, one, undo } = unclear();
      scene.wake(scene.now + SEEK_MS);
      expect(told(scene).remainder).toMatchObject([{ callId: one, reason: 'undo_unknown' }, { reason: 'blocked' }]);
      known(scene, undo);
      expect(scene.all('RunAmended')[0]!.data.compensation).toMatchObject({ undone: [one] });
    });
  });
});

describe('a way back that is ordered of an open run', () => {
  it('cancels it first: what is out comes to its end, then it goes back, in one command', () => {
    const scene = new UndoScene().begin();
    const first = scene.write('book', 'a');
    const out = scene.write('book', 'a', null);
    expect(types(scene.compensate())).toEqual(['CancelGranted']);
    expect(scene.compensate()).toEqual([]);
    expect(types(scene.compensate('comp-2'))).toEqual(['CommandRefused']);
    expect(types(scene.settle(out, scene.booked('a')))).toEqual(['CompensationStarted', 'CallProposed']);
    expect(scene.all('CompensationStarted')[0]!.data).toMatchObject({
      commandId: 'comp-1',
      callIds: [out, first],
      episode: 1,
    });
    scene.undone(out);
    scene.undone(first);
    expect(told(scene)).toMatchObject({ status: 'done', undone: [out, first] });
    expect(scene.all('RunEnded').map(({ data }) => data.status)).toEqual(['cancelled']);
    expect(types(scene.compensate())).toEqual(['CompensationStarted', 'RunEnded']);
  });

  it('one that is being cancelled goes back afterwards; what nobody answers for is left', () => {
    const scene = new UndoScene().begin();
    const first = scene.write('book', 'b');
    const out = scene.write('book', 'a', null);
    scene.cancel();
    expect(scene.compensate()).toEqual([]);
    scene.wake(wakeAt(scene.run!)!);
    while (scene.run!.state.phase.name === 'closing') scene.wake(wakeAt(scene.run!)!);
    scene.undone(first);
    expect(told(scene)).toMatchObject({ undone: [first], remainder: [{ callId: out, reason: 'outcome_unknown' }] });
  });

  it('that did nothing: it is cancelled, and nothing is left', () => {
    const scene = new UndoScene().begin();
    expect(types(scene.compensate())).toEqual(['CompensationStarted', 'CompensationEnded', 'RunEnded']);
    expect(runView(scene.run!)).toMatchObject({ status: 'cancelled', compensation: 'done' });
  });
});
