import { callIdOf, digestJson } from '#kernel';
import { alice, approvalData, editedData, failedData } from '../../testing/fixtures.ts';
import { callIds, RUN_ID, Scene, types } from '../../testing/scene.ts';
import type { Emission } from './saga.types.ts';

const OLD = callIdOf(RUN_ID, 1);
const EDITED = callIdOf(RUN_ID, ['edit', `appr-${OLD}`]);
const ask = (scene: Scene, callId = OLD) => scene.say('ApprovalRequested', approvalData(`appr-${callId}`), { callId });
const edit = (scene: Scene, args: Record<string, unknown> = { name: 'b', on: false }, callId = OLD) =>
  scene.say('ApprovalEdited', editedData(callId, args), { callId });
/** What policy sends beside the edit. */
const settleOld = (scene: Scene) => {
  const denied = failedData('denied', 'APPROVAL_DENIED');
  const error = { ...denied.error!, replacedBy: EDITED };
  return scene.settle(OLD, { ...denied, error, settledBy: 'policy', decisionNo: 1 }, { kind: 'policy' });
};
const agentRun = (...proposals: (readonly [string, unknown])[]): Scene => {
  const scene = new Scene();
  scene.start('agent');
  scene.turn(1, ...proposals.map(([tool, args]) => [tool, args] as [string, unknown]));
  return scene;
};
const SET_A: [string, unknown] = ['ops.set_flag', { name: 'a' }];

describe('a call whose arguments a person changed', () => {
  it('is proposed with them under an id of its own, as the same principal, with its author and origins said (G3)', () => {
    const scene = agentRun(SET_A);
    ask(scene);
    const [proposed] = edit(scene) as Emission<'CallProposed'>[];
    expect(proposed).toMatchObject({
      type: 'CallProposed',
      callId: EDITED,
      data: {
        providerCallId: 'p1-0',
        principal: alice,
        arguments: { name: 'b', on: false },
        resources: ['flag:b'],
        origins: { '/name': 'user', '/on': 'user' },
        edited: { callId: OLD, by: 'user:bob' },
      },
    });
    expect(scene.call(OLD)).toMatchObject({ state: 'settled', status: 'denied', effect: 'none', replacedBy: EDITED });
  });

  it('answers the model once, after it has settled, and says what ran instead (G10)', () => {
    const scene = agentRun(SET_A);
    ask(scene);
    edit(scene);
    expect(settleOld(scene)).toEqual([]);
    const [turn] = scene.settle(EDITED, { model: '{"set":true}' }) as Emission<'RequestTurn'>[];
    expect(turn!.data.results).toHaveLength(1);
    const [result] = turn!.data.results;
    expect([result!.callId, result!.providerCallId]).toEqual([EDITED, 'p1-0']);
    expect(result!.output).toMatch(/^A person changed the arguments.*\n\{"name":"b","on":false\}\n.*\n\{"set":true\}$/);
    scene.answer(2, 'done');
    expect(scene.all('RunEnded')[0]!.data).toMatchObject({
      status: 'completed',
      outcome: 'all_succeeded',
      callCount: 2,
    });
  });

  it('is one call, whichever of policy’s facts comes first, late or again (D1, D2)', () => {
    const orders: ((scene: Scene) => void)[][] = [
      [edit, settleOld],
      [settleOld, edit],
      [settleOld, edit, settleOld, edit, ask],
      [edit, edit, settleOld, settleOld, ask],
    ];
    const ends = orders.map((order) => {
      const scene = agentRun(SET_A);
      ask(scene);
      for (const give of order) give(scene);
      expect(callIds(scene.all('CallProposed'))).toEqual([OLD, EDITED]);
      scene.settle(EDITED);
      edit(scene);
      return digestJson('test/v1', scene.run!.state.calls);
    });
    expect(new Set(ends).size).toBe(1);
  });

  it('also when the edit overtook the question', () => {
    const scene = agentRun(SET_A);
    expect(callIds(edit(scene))).toEqual([EDITED]);
    ask(scene);
    expect(scene.dropped).toEqual(['late']);
    expect(scene.call(EDITED).state).toBe('proposed');
  });

  it('keeps its place: what comes after waits for it, and runs when it succeeded (S2, S3)', () => {
    const scene = agentRun(SET_A, ['ops.set_flag', { name: 'z' }]);
    ask(scene);
    expect(callIds(edit(scene))).toEqual([EDITED]);
    expect(callIds(scene.settle(EDITED))).toEqual([callIdOf(RUN_ID, 2)]);
  });

  it('and holds back the writes after it when it did not succeed either (S3)', () => {
    const scene = agentRun(SET_A, ['ops.set_flag', { name: 'z' }]);
    ask(scene);
    edit(scene);
    const out = scene.settle(
      EDITED,
      { ...failedData('denied', 'APPROVAL_DENIED'), settledBy: 'policy' },
      { kind: 'policy' },
    );
    expect(types(out)).toEqual(['CallSettled', 'RequestTurn']);
    const [, turn] = out as [Emission, Emission<'RequestTurn'>];
    expect(turn.data.results[0]!.output).toContain('A person changed the arguments');
    expect(turn.data.results[1]!.output).toContain('DEPENDENCY_FAILED');
  });

  it('may be edited again', () => {
    const scene = agentRun(SET_A);
    ask(scene);
    edit(scene);
    ask(scene, EDITED);
    const [again] = edit(scene, { name: 'c', on: true }, EDITED) as Emission<'CallProposed'>[];
    expect(again!.data.edited).toEqual({ callId: EDITED, by: 'user:bob' });
    const [turn] = scene.settle(again!.callId!) as Emission<'RequestTurn'>[];
    expect(turn!.data.results.map(({ providerCallId }) => providerCallId)).toEqual(['p1-0']);
    expect(turn!.data.results[0]!.output).toContain('{"name":"c","on":true}');
  });

  it('back to what was proposed at first is a person’s word, not a repetition', () => {
    const scene = agentRun(SET_A);
    ask(scene);
    edit(scene);
    ask(scene, EDITED);
    expect(types(edit(scene, { name: 'a', on: true }, EDITED))).toEqual(['CallProposed']);
  });

  it('that names what no template can name is refused, and the model is told so with the arguments', () => {
    const scene = agentRun(SET_A);
    ask(scene);
    const out = edit(scene, { on: true });
    expect(types(out)).toEqual(['CallSettled', 'RequestTurn']);
    expect((out[0] as Emission<'CallSettled'>).data).toMatchObject({
      status: 'rejected',
      error: { code: 'INVALID_ARGS' },
    });
    expect((out[1] as Emission<'RequestTurn'>).data.results[0]!.output).toMatch(/^A person changed.*INVALID_ARGS/s);
  });

  it('keeps a direct call’s run open until it has settled; a replaced call counts for nothing in the outcome (D3)', () => {
    const scene = new Scene();
    scene.start('call', { proposals: [{ callId: OLD, tool: 'ops.set_flag', arguments: '{"name":"a"}' }] });
    ask(scene);
    edit(scene);
    settleOld(scene);
    expect(scene.all('RunEnded')).toEqual([]);
    scene.settle(EDITED, { effect: 'applied' });
    expect(scene.all('RunEnded')[0]!.data).toMatchObject({ outcome: 'all_succeeded' });
  });

  it('is what a client’s later call waits for, by either name', () => {
    const scene = new Scene();
    const first = callIdOf(RUN_ID, ['1']);
    scene.start('client');
    scene.propose('cmd-1', [first], 'ops.set_flag', { name: 'a' });
    ask(scene, first);
    edit(scene, { name: 'b', on: true }, first);
    const next = callIdOf(RUN_ID, ['2']);
    const proposals = [{ callId: next, tool: 'ops.set_flag', arguments: '{"name":"z"}', dependsOn: [first] }];
    const data = { commandId: 'cmd-2', principal: alice, requestDigest: `sha256:${'3'.repeat(64)}`, proposals };
    expect(scene.say('ProposeCalls', data)).toEqual([]);
    expect(callIds(scene.settle(callIdOf(RUN_ID, ['edit', `appr-${first}`])))).toEqual([next]);
  });

  it('is not made in a run that was cancelled, and not known to one that has ended (D4)', () => {
    const scene = agentRun(SET_A);
    ask(scene);
    scene.cancel();
    const out = edit(scene);
    expect(types(out)).toEqual(['CallSettled', 'RunEnded']);
    expect((out[0] as Emission<'CallSettled'>).data).toMatchObject({
      status: 'cancelled',
      error: { code: 'CANCELLED' },
    });
    expect(edit(scene)).toEqual([]);
  });

  it('by another tenant changes nothing (G12)', () => {
    const scene = agentRun(SET_A);
    ask(scene);
    scene.say('ApprovalEdited', editedData(OLD, { name: 'b' }), { callId: OLD, tenant: 'other' });
    expect(scene.dropped).toEqual(['foreign']);
    expect(scene.call(OLD).state).toBe('asked');
  });
});
