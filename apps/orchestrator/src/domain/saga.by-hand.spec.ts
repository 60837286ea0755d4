import { reconciledData } from '../../../../libs/contracts/testing/unknown-facts.ts';
import { failedData } from '../../testing/fixtures.ts';
import { types } from '../../testing/scene.ts';
import { UndoScene } from '../../testing/undoable.ts';
import { step } from './saga.table.ts';

const fromPool = { from: { kind: 'pool', pool: 'default' } } as const;
const done = (callId: string) => ({ calls: [{ callId, how: 'done', evidence: 'cancelled by phone' }] });
const closed = (scene: UndoScene) =>
  scene.all('CloseUndone').map(({ topic, callId, data }) => ({ topic, callId, data }));

function leftRun(): { scene: UndoScene; one: string } {
  const scene = new UndoScene().begin();
  const one = scene.write('book', 'a');
  scene.finish();
  scene.compensate();
  scene.undoFails(one);
  return { scene, one };
}

describe('what a person took back by other means (C9, G7)', () => {
  it('is closed by the pool that ran the call, once; the evidence stays with the run', () => {
    const { scene, one } = leftRun();
    scene.compensate('comp-2', done(one));
    const by = scene.run!.definition.principal.id;
    expect(closed(scene)).toEqual([{ topic: 'call.granted.default', callId: one, data: { commandId: 'comp-2', by } }]);
    expect(types(scene.said).slice(-3).sort()).toEqual(['CloseUndone', 'CompensationEnded', 'RunEnded']);
    scene.compensate('comp-2', done(one));
    expect(types(scene.compensate('comp-3', done(one)))).toEqual(['CommandRefused']);
    expect(closed(scene)).toHaveLength(1);
  });

  it('a retry and a skip close nothing: the effect stands', () => {
    const { scene, one } = leftRun();
    scene.compensate('comp-2', { calls: [{ callId: one, how: 'retry' }] });
    scene.undoFails(one);
    scene.compensate('comp-3', { calls: [{ callId: one, how: 'skip', reason: 'it may stay' }] });
    expect(closed(scene)).toEqual([]);
  });

  it.each([
    ['succeeded', 1],
    ['failed', 0],
  ] as const)('one whose outcome was unknown is closed when it is found out that it %s: %i', (status, times) => {
    const scene = new UndoScene().begin();
    const one = scene.write('book', 'a', failedData('outcome_unknown', 'OUTCOME_UNKNOWN'));
    scene.finish();
    scene.compensate('comp-2', done(one));
    expect(closed(scene)).toEqual([]);
    for (let n = 0; n < 2; n++) scene.say('CallReconciled', reconciledData({ status }), { callId: one, ...fromPool });
    expect(closed(scene)).toHaveLength(times);
  });

  it('without the contract nothing is decided: it is fetched first, and one that cannot be read is refused', () => {
    const { scene, one } = leftRun();
    const input = {
      type: 'CompensateRun',
      runId: scene.run!.definition.runId,
      tenant: scene.run!.definition.tenant,
      data: { commandId: 'c', principal: scene.run!.definition.principal, decision: 'compensate', ...done(one) },
    } as const;
    const calls = [...input.data.calls] as { callId: string; how: 'done'; evidence: string }[];
    const said = { ...input, data: { ...input.data, calls } };
    expect(() => step(scene.run, said, { now: scene.now, contracts: new Map() })).toThrow('contracts must be fetched');
    const call = scene.run!.state.calls.find(({ callId }) => callId === one) as { wayBack: { contractDigest: string } };
    const contracts = new Map([[call.wayBack.contractDigest, 'unreadable' as const]]);
    const refused = step(scene.run, said, { now: scene.now, contracts });
    expect(refused.out).toMatchObject([{ type: 'CommandRefused', data: { code: 'INTERNAL' } }]);
    expect(refused.run).toBe(scene.run);
  });
});
