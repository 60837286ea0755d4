import type { CallReconciled, Principal, Resolution } from '#contracts';
import { callIdOf, digestText } from '#kernel';
import { alice, failedData } from '../../testing/fixtures.ts';
import { RUN_ID, Scene, types } from '../../testing/scene.ts';
import { runView } from './run-view.ts';

const id = (n: number): string => callIdOf(RUN_ID, n);
const flag: [string, unknown] = ['ops__set_flag', { name: 'a' }];
const olga: Principal = { id: 'user:olga', kind: 'user', roles: ['operator'] };
const unknown = failedData('outcome_unknown', 'OUTCOME_UNKNOWN');

const reconciled = (own: Partial<CallReconciled> = {}): CallReconciled => ({
  amendment: 1,
  reconciledBy: 'person',
  status: 'succeeded',
  effect: 'applied',
  tool: 'ops.set_flag@1.0.0',
  contractDigest: digestText('t', 'c'),
  operationKeyHash: 'h',
  commandId: 'cmd-1',
  principal: olga,
  proposed: null,
  evidence: 'seen',
  evidenceDigest: digestText('t', 'e'),
  error: null,
  result: null,
  ...own,
});
const pool = (name = 'default') => ({ from: { kind: 'pool', pool: name } as const });

function unknownRun(driver: 'agent' | 'call' = 'agent'): Scene {
  const scene = new Scene();
  if (driver === 'call')
    scene.start('call', { proposals: [{ callId: id(1), tool: 'ops.set_flag', arguments: '{"name":"a"}' }] });
  else {
    scene.start('agent');
    scene.turn(1, flag);
  }
  scene.settle(id(1), unknown);
  if (driver === 'agent') scene.answer(2, 'done');
  return scene;
}
const amend = (scene: Scene, data: CallReconciled, from = pool()) =>
  scene.say('CallReconciled', data, { callId: id(1), ...from });
const resolve = (scene: Scene, resolution: Resolution = 'applied', own: object = {}) =>
  scene.say('ResolveCall', {
    commandId: 'cmd-1',
    principal: olga,
    callId: id(1),
    resolution,
    evidence: 'seen',
    ...own,
  });

describe('a run with an unknown outcome (G9)', () => {
  it('what a person says goes to the pool of the call, under the command', () => {
    const [sent] = resolve(unknownRun('call'));
    expect(sent).toMatchObject({
      type: 'ReconcileCall',
      topic: 'call.granted.default',
      callId: id(1),
      data: { commandId: 'cmd-1', resolution: 'applied', evidence: 'seen', principal: { id: 'user:olga' } },
    });
    expect(sent!.data).not.toHaveProperty('callId');
  });

  it.each([
    ['another call', { callId: id(7) }, 'NOT_FOUND', /no such call/],
    ['an agent', { principal: alice }, 'PERMISSION_DENIED', /operator/],
  ])('%s: refused', (_who, own, code, text) => {
    expect(resolve(unknownRun(), 'applied', own)).toMatchObject([
      { type: 'CommandRefused', data: { code, message: expect.stringMatching(text) } },
    ]);
  });

  it('a call that is not unknown is a conflict that names its state; the command that led there is passed on again', () => {
    const scene = unknownRun();
    amend(scene, reconciled());
    expect(types(resolve(scene))).toEqual(['ReconcileCall']);
    expect(resolve(scene, 'applied', { commandId: 'cmd-2' })).toMatchObject([
      { type: 'CommandRefused', data: { code: 'INVALID_ARGS', message: expect.stringContaining('"succeeded"') } },
    ]);
    const open = new Scene();
    open.start('agent');
    open.turn(1, flag);
    expect(resolve(open)).toMatchObject([{ data: { message: expect.stringContaining('not settled yet') } }]);
  });

  it('an end that was told stands; what holds now is told once, and shown', () => {
    const scene = unknownRun();
    expect(scene.all('RunEnded')[0]!.data.outcome).toBe('some_unknown');
    expect(amend(scene, reconciled())).toMatchObject([
      { type: 'RunAmended', topic: 'run.events', data: { episode: 1, amendment: 1, outcome: 'all_succeeded' } },
    ]);
    expect(amend(scene, reconciled())).toEqual([]);
    expect(scene.dropped).toEqual(['late']);
    expect(runView(scene.run!)).toMatchObject({
      status: 'completed',
      outcome: 'all_succeeded',
      calls: [{ status: 'succeeded', effect: 'applied', errorCode: null }],
      effects: [{ effect: 'applied' }],
    });
    const again = scene.cancel();
    expect(again).not.toMatchObject([{ type: 'RunEnded', data: { outcome: 'all_succeeded' } }]);
  });

  it.each([
    ['failed', 'none', 'some_failed'],
    ['partially_applied', 'partial', 'some_failed'],
  ] as const)('%s: the run is %s, %s', (status, effect, outcome) => {
    const scene = unknownRun();
    amend(scene, reconciled({ status, effect }));
    expect(runView(scene.run!)).toMatchObject({ outcome, calls: [{ status, effect }] });
  });

  it('left to a person it is as unknown as before; the higher amendment wins in any order', () => {
    const scene = unknownRun();
    expect(amend(scene, reconciled({ status: 'needs_human', effect: 'unknown' }))).toEqual([]);
    amend(scene, reconciled({ amendment: 3 }));
    amend(scene, reconciled({ amendment: 2, status: 'needs_human', effect: 'unknown' }));
    expect(runView(scene.run!)).toMatchObject({ outcome: 'all_succeeded', calls: [{ status: 'succeeded' }] });
  });

  it('G12 only the pool that holds the record counts', () => {
    const scene = unknownRun();
    amend(scene, reconciled(), pool('other'));
    scene.say('CallReconciled', reconciled(), { callId: id(1), from: { kind: 'policy' } });
    scene.say('CallReconciled', reconciled(), { callId: id(1), ...pool(), tenant: 'other' });
    expect(scene.dropped).toEqual(['foreign', 'foreign', 'foreign']);
    expect(runView(scene.run!).outcome).toBe('some_unknown');
  });

  describe('a model that was told OUTCOME_UNKNOWN and goes on', () => {
    const asked = (scene: Scene) => scene.all('RequestTurn').at(-1)!.data;
    const told = () => {
      const scene = new Scene();
      scene.start('agent');
      scene.turn(1, flag);
      scene.settle(id(1), unknown);
      return scene;
    };

    it.each([
      ['succeeded', 'applied', /ops\.set_flag@1\.0\.0 \(call_\w+\): it was applied\. Do not repeat it\./],
      ['failed', 'none', /was not applied/],
      ['partially_applied', 'partial', /in part/],
    ] as const)('is told once that it %s, without arguments and results', (status, effect, text) => {
      const scene = told();
      const first = asked(scene);
      amend(scene, reconciled({ status, effect }));
      const before = scene.said.length;
      scene.wake(scene.now + 60_000);
      expect(
        scene.said
          .slice(before)
          .filter(({ type }) => type === 'RequestTurn')
          .map(({ data }) => data),
      ).toEqual([first]);
      scene.turn(2, flag);
      scene.settle(id(2));
      expect(asked(scene).note).toMatch(text);
      expect(asked(scene).note).not.toContain('"a"');
      scene.turn(3, flag);
      scene.settle(id(3));
      expect(asked(scene)).not.toHaveProperty('note');
    });

    it('hears of the decision alone, not of the search for it; of a later turn by the highest amendment', () => {
      const scene = told();
      scene.turn(2, flag);
      amend(scene, reconciled({ status: 'needs_human', effect: 'unknown' }));
      amend(scene, reconciled({ amendment: 3 }));
      amend(scene, reconciled({ amendment: 2, status: 'failed', effect: 'none' }));
      scene.settle(id(2));
      expect(asked(scene).note!.split('\n')).toHaveLength(2);
      expect(asked(scene).note).toContain('it was applied');
    });

    it('one whose result is not handed over yet is given the truth itself', () => {
      const scene = new Scene();
      scene.start('agent');
      scene.turn(1, flag, ['ops__read_alerts', { service: 'a' }]);
      scene.settle(id(1), unknown);
      amend(scene, reconciled({ status: 'failed', effect: 'none' }));
      scene.settle(id(2));
      expect(asked(scene)).not.toHaveProperty('note');
      expect(asked(scene).results[0]!.output).not.toContain('OUTCOME_UNKNOWN');
    });
  });

  it('one that overtook the settlement settles the call, and the settlement is history', () => {
    const scene = new Scene();
    scene.start('agent');
    scene.turn(1, flag);
    expect(types(amend(scene, reconciled()))).toEqual(['RequestTurn']);
    expect(scene.settle(id(1), unknown)).toEqual([]);
    scene.answer(2, 'done');
    expect(scene.all('RunEnded')[0]!.data.outcome).toBe('all_succeeded');
  });

  it('one that overtook the settlement leaves the call outside the order of its batch, if it stood there', () => {
    const scene = new Scene();
    scene.start('client');
    const write = (n: number) => ({ callId: id(n), tool: 'ops.set_flag', arguments: `{"name":"${n}"}` });
    scene.say('ProposeCalls', {
      commandId: 'cmd-p',
      principal: alice,
      requestDigest: digestText('t', 'p'),
      proposals: [{ ...write(1), dependsOn: [] }, write(2), write(3)],
    });
    amend(scene, reconciled({ status: 'failed', effect: 'none' }));
    expect(scene.settle(id(2))).toMatchObject([{ type: 'CallProposed', callId: id(3) }]);
  });

  it('a model that was told OUTCOME_UNKNOWN is sent the same again, not something else', () => {
    const scene = new Scene();
    scene.start('agent');
    scene.turn(1, flag);
    const [asked] = scene.settle(id(1), unknown);
    amend(scene, reconciled());
    const [again] = scene.wake(scene.run!.state.drive!.at);
    expect(again!.data).toEqual(asked!.data);
    expect(JSON.stringify(again!.data)).toContain('OUTCOME_UNKNOWN');
  });
});
