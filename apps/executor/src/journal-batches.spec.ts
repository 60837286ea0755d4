import { grant, newCallId, openExecutor, tool, type Executor } from '../testing/executor-rig.ts';

/** A batch without conflicts takes another way through the journal than one with them: both must say the same. */
describe('batches at the journal', () => {
  let executor: Executor;
  beforeAll(async () => {
    executor = await openExecutor();
  });
  afterAll(() => executor.close());
  beforeEach(() => {
    executor.attempts.length = 0;
  });
  const serial = tool({ concurrency: 'per_resource', resources: ['ticket:{id}'] });
  const fencesOf = (callId: string | null | undefined) =>
    executor.attempts.filter((attempt) => attempt.callId === callId).map((attempt) => ({ ...attempt.fence }));

  it('G6 J5 each call of a batch gets the fences of all its resources, whatever their names', async () => {
    const id = newCallId();
    const names = [`${id}"quoted"`, `${id}\\back\\slash`, `${id}{a,b}`, `${id} NULL `, `${id}é😀`];
    const many = grant({ of: serial, resources: names });
    const one = grant({ of: serial, resources: [`${id}/one`] });
    const none = grant();
    await executor.deliverGrants(many, one, none);
    const settled = await Promise.all([many, one, none].map((g) => executor.settlement(g.callId!)));
    expect(settled.map((s) => s.status)).toEqual(['succeeded', 'succeeded', 'succeeded']);
    expect(fencesOf(many.callId)).toEqual([Object.fromEntries(names.map((name) => [name, 1]))]);
    expect(fencesOf(one.callId)).toEqual([{ [`${id}/one`]: 1 }]);
    expect(fencesOf(none.callId)).toEqual([{}]);
  });

  it('G6 G7 a repeat and a replay in a batch leave the others their effect and their fences without gaps', async () => {
    const resources = [`ticket:${newCallId()}`];
    const done = grant({ of: serial, resources });
    await executor.deliverGrants(done);
    await executor.settlement(done.callId!);
    const next = grant({ of: serial, resources });
    const replay = grant({ of: serial, resources, operationKey: done.data.operationKey });
    const fresh = grant({ of: serial, resources: [`ticket:${newCallId()}`] });
    await executor.deliverGrants(done, next, fresh);
    await executor.deliverGrants(replay);
    const settled = await Promise.all([next, replay, fresh].map((g) => executor.settlement(g.callId!)));
    expect(settled.map((s) => s.replayed)).toEqual([false, true, false]);
    expect(fencesOf(done.callId)).toEqual([{ [resources[0]!]: 1 }]);
    expect(fencesOf(next.callId)).toEqual([{ [resources[0]!]: 2 }]);
    expect(fencesOf(fresh.callId)).toEqual([{ [fresh.data.resources[0]!]: 1 }]);
    expect(fencesOf(replay.callId)).toEqual([]);
  });

  it('J9 reads and writes that end together, and what was recorded before, each say it once', async () => {
    const read = tool({ name: 'read_it', layer: 'read', sideEffects: 'none', idempotency: { mode: 'natural' } });
    const all = [grant(), grant({ of: read }), grant({ of: serial, resources: [`ticket:${newCallId()}`] })];
    await executor.deliverGrants(...all);
    await Promise.all(all.map((g) => executor.settlement(g.callId!)));
    await executor.settle();
    for (const granted of all) expect(executor.settlements(granted.callId!)).toHaveLength(1);
    const left = await executor.database.query({ text: 'select id from outgoing' });
    expect(left).toEqual([]);
  });
});
