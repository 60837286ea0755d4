import fc from 'fast-check';
import { stageFaults, type Stages } from '#contracts';
import { callIdOf } from '#kernel';
import { alice, failedData, settledData, startData, TOOLSET } from '../../testing/fixtures.ts';
import { RUN_ID, Scene } from '../../testing/scene.ts';

const ALERTS = 'ops.read_alerts@1.0.0';
const REGIONS = 'ops.list_regions@1.0.0';
const FLAG = 'ops.set_flag@1.0.0';
const STAGES: Stages = [
  { name: 'gather', toolset: [ALERTS, REGIONS], toolChoice: 'required', advanceWhen: { all: [ALERTS, REGIONS] } },
  { name: 'act', toolset: [FLAG], maxParallel: 1, advanceWhen: { calls: 1 } },
  { name: 'tell', toolset: [FLAG], toolChoice: 'none' },
];
type Asked = [tool: string, args: object];
const read: Asked = ['ops.read_alerts', { service: 'a' }];
const list: Asked = ['ops.list_regions', {}];
const write: Asked = ['ops.set_flag', { name: 'a' }];

class Staged extends Scene {
  constructor(stages: Stages = STAGES) {
    super();
    this.say('StartRun', startData('agent', { stages }));
  }
  /** The model proposes; what was let through succeeds, or fails. @returns states and codes of its calls */
  modelAsks(calls: readonly Asked[], good = true): string[] {
    const turn = this.all('RequestTurn').at(-1)!.data.turn;
    const first = this.run!.state.calls.length + 1;
    this.turn(turn, ...calls);
    const ids = calls.map((_, index) => callIdOf(RUN_ID, first + index));
    for (let out = ids; out.length > 0; out = ids.filter((id) => this.call(id).state === 'proposed'))
      for (const id of out)
        if (this.call(id).state === 'proposed') this.settle(id, good ? settledData() : failedData('failed'));
    return ids.map((id) => {
      const call = this.call(id);
      return call.state === 'settled' ? (call.errorCode ?? call.status) : call.state;
    });
  }
  /** What the model is shown now. */
  offer() {
    const { toolset, toolChoice, parallelToolCalls } = this.all('RequestTurn').at(-1)!.data;
    return [toolset.map(({ tool }) => tool), toolChoice, parallelToolCalls];
  }
}

describe('stages of a run (T1–T3, G1)', () => {
  it('each turn is offered what its stage shows, and its condition alone leads on', () => {
    const run = new Staged();
    expect(run.offer()).toEqual([[ALERTS, REGIONS], 'required', true]);
    expect(run.modelAsks([read])).toEqual(['succeeded']);
    expect(run.offer()).toEqual([[ALERTS, REGIONS], 'required', true]);
    expect(run.modelAsks([list])).toEqual(['succeeded']);
    expect(run.offer()).toEqual([[FLAG], undefined, false]);
    expect(run.modelAsks([write])).toEqual(['succeeded']);
    expect(run.offer()).toEqual([[FLAG], 'none', true]);
    expect(run.all('TurnRecorded').map(({ data }) => data.stage)).toEqual([
      { no: 1, name: 'gather' },
      { no: 1, name: 'gather' },
      { no: 2, name: 'act' },
    ]);
  });

  it('what was not offered in the turn is TOOL_NOT_ALLOWED, named with what is offered; nothing is asked of policy', () => {
    const run = new Staged();
    expect(run.modelAsks([read, write, ['ops.unknown', {}]])).toEqual([
      'succeeded',
      'TOOL_NOT_ALLOWED',
      'UNKNOWN_TOOL',
    ]);
    expect(run.all('CallProposed').map(({ data }) => data.tool)).toEqual([ALERTS]);
    const { error } = run.all('CallSettled')[0]!.data;
    expect(error).toMatchObject({ code: 'TOOL_NOT_ALLOWED', details: [{ path: '/tool', rule: 'stage' }] });
    expect(error!.message).toContain('ops__read_alerts');
  });

  it('a call that did not succeed fulfils nothing, and where no call may be made none is', () => {
    const run = new Staged();
    run.modelAsks([read, list], false);
    expect(run.offer()[0]).toEqual([ALERTS, REGIONS]);
    run.modelAsks([read, list]);
    expect(run.modelAsks([write], false)).toEqual([expect.any(String)]);
    expect(run.offer()[0]).toEqual([FLAG]);
    run.modelAsks([write]);
    expect(run.modelAsks([write])).toEqual(['TOOL_NOT_ALLOWED']);
  });

  it('calls of an earlier stage do not count for the next one', () => {
    const run = new Staged([
      { name: 'one', toolset: [ALERTS], advanceWhen: { any: [ALERTS] } },
      { name: 'two', toolset: [ALERTS], advanceWhen: { any: [ALERTS] } },
      { name: 'three', toolset: [FLAG] },
    ]);
    run.modelAsks([read, read]);
    expect(run.run!.state.stage?.index).toBe(1);
    run.modelAsks([read]);
    expect(run.run!.state.stage?.index).toBe(2);
  });

  it('an answer ends the run in any stage; a person who took it over may call what the run has, whatever the stage', () => {
    const early = new Staged();
    early.answer(1, 'nothing to do');
    expect(early.run!.state.phase).toMatchObject({ name: 'ended', end: { status: 'completed' } });
    const taken = new Staged();
    const person = { ...alice, id: 'user:olga', roles: ['operator'] };
    taken.say('TakeOverRun', { commandId: 'take', principal: person, reason: 'so' });
    const callId = callIdOf(RUN_ID, ['olga', '1']);
    const proposals = [{ callId, tool: 'ops.set_flag', arguments: '{"name":"a"}' }];
    taken.say('ProposeCalls', {
      commandId: 'own',
      principal: person,
      requestDigest: `sha256:${'a'.repeat(64)}`,
      proposals,
    });
    expect(taken.call(callId).state).toBe('proposed');
    taken.settle(callId, settledData());
    expect(taken.run!.state.stage).toBeUndefined();
  });

  it('a run only goes forward, and never past a condition that does not hold, whatever the model proposes', () => {
    const asked = fc.array(fc.constantFrom(read, list, write), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(fc.array(fc.tuple(asked, fc.boolean()), { maxLength: 8 }), (turns) => {
        const run = new Staged();
        const done = { reads: new Set<string>(), writes: 0 };
        let place = 0;
        for (const [calls, good] of turns) {
          if (run.run!.state.phase.name !== 'awaiting_model') break;
          run.modelAsks(calls, good).forEach((came, index) => {
            if (came !== 'succeeded') return;
            if (place === 0) done.reads.add(calls[index]![0]);
            else done.writes++;
          });
          const expected = place === 0 ? (done.reads.size === 2 ? 1 : 0) : place === 1 && done.writes > 0 ? 2 : place;
          if (run.run!.state.phase.name !== 'awaiting_model') break;
          place = run.run!.state.stage?.index ?? 0;
          expect(place).toBe(expected);
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe('stages that cannot be gone through', () => {
  const names = TOOLSET.map(({ tool }) => tool);
  const last = { name: 'end', toolset: [FLAG] };
  it.each<[string, Stages, (string | number)[], RegExp]>([
    ['a name twice', [{ ...last, advanceWhen: { calls: 1 } }, last], [1, 'name'], /rename/],
    ['a tool that the agent has not', [{ name: 'a', toolset: ['ops.other'] }], [0, 'toolset', 0], /add it there/],
    ['a tool twice', [{ name: 'a', toolset: [FLAG, FLAG] }], [0, 'toolset', 1], /remove one/],
    ['no tool', [{ name: 'a', toolset: [] }], [0, 'toolset'], /toolChoice to none/],
    ['a condition at the end', [{ ...last, advanceWhen: { calls: 1 } }], [0, 'advanceWhen'], /remove the condition/],
    ['no condition before the end', [{ name: 'a', toolset: [FLAG] }, last], [0, 'advanceWhen'], /is missing/],
    [
      'a condition that never holds',
      [{ name: 'a', toolset: [FLAG], advanceWhen: { all: [ALERTS] } }, last],
      [0, 'advanceWhen'],
      /not offered in this stage/,
    ],
    ['a last one that must call', [{ ...last, toolChoice: 'required' }], [0, 'toolChoice'], /could never answer/],
    [
      'one without calls before the end',
      [{ name: 'a', toolset: [FLAG], toolChoice: 'none' }, last],
      [0, 'toolChoice'],
      /never reached/,
    ],
  ])('%s is named, with its place and the remedy', (_what, stages, path, remedy) => {
    expect(stageFaults(stages, names)).toEqual([{ path, message: expect.stringMatching(remedy) }]);
  });

  it('those that can are not', () => expect(stageFaults(STAGES, names)).toEqual([]));
});
