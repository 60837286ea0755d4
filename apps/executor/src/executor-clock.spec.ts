import { freshDatabase, type FreshDatabase } from '../../../libs/persistence/testing/fresh-database.ts';
import type { RunOutcome } from './domain/tool-runner.port.ts';
import { answered, grant, newCallId, openExecutor, tool, until, type Executor } from '../testing/executor-rig.ts';

const HOUR = 3_600_000;

/** J8: leases, waits and the life of grants are judged by the database's clock; a process's own clock is for labels only. */
describe('G6 J8 executors whose clocks are wrong', () => {
  let fresh: FreshDatabase;
  const open: Executor[] = [];
  const start = async (offset: () => number, run: () => Promise<RunOutcome>): Promise<Executor> => {
    const executor = await openExecutor({ url: fresh.url, clock: { now: () => Date.now() + offset() }, run });
    open.push(executor);
    return executor;
  };
  beforeEach(async () => {
    fresh = await freshDatabase();
  });
  afterEach(async () => {
    for (const executor of open.splice(0)) await executor.close();
    await fresh.drop();
  });

  it('an hour ahead, an hour behind, and jumping: writers never overlap, and nothing is taken over or given back', async () => {
    let inside = 0;
    let most = 0;
    let jump = 0;
    const run = async (): Promise<RunOutcome> => {
      most = Math.max(most, ++inside);
      jump = jump === 0 ? 24 * HOUR : 0;
      await new Promise((resolve) => setImmediate(resolve));
      inside--;
      return answered({});
    };
    const executors = [
      await start(() => HOUR + jump, run),
      await start(() => -HOUR, run),
      await start(() => -jump, run),
    ];
    const of = tool({ concurrency: 'per_resource', resources: ['ticket:{id}'] });
    const resources = [`ticket:${newCallId()}`];
    const granted = Array.from({ length: 9 }, () => grant({ of, resources }));
    await Promise.all(granted.map((one, n) => executors[n % 3]!.deliverGrants(one)));
    await until(() => executors.flatMap((executor) => executor.messagesOf('CallSettled')).length === 9);
    expect(most).toBe(1);
    expect(executors.flatMap((executor) => executor.messagesOf('GrantReturned'))).toEqual([]);
  });

  it('a call at work is not taken over by a process whose clock is a day ahead', async () => {
    let finish!: () => void;
    const owner = await start(
      () => -HOUR,
      () => new Promise((resolve) => (finish = () => resolve(answered({ by: 'owner' })))),
    );
    const granted = grant({ of: tool() });
    await owner.deliverGrants(granted);
    await until(() => owner.attempts.length === 1);
    const ahead = await start(
      () => 24 * HOUR,
      () => Promise.resolve(answered({ by: 'other' })),
    );
    for (let look = 0; look < 5; look++) await sweepOnce(ahead);
    finish();
    expect((await owner.settlement(granted.callId!)).result?.sanitized).toEqual({ by: 'owner' });
    expect(ahead.attempts).toEqual([]);
  });
});

const sweepOnce = (executor: Executor): Promise<void> =>
  (executor.parts.workers![0] as unknown as { sweep(): Promise<void> }).sweep();
