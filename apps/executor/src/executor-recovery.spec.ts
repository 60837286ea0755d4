import { createLocks } from '#locks';
import { Database } from '#persistence';
import type { ToolContractInput } from '#contracts';
import type { RunOutcome } from './domain/tool-runner.port.ts';
import { answered, grant, newCallId, tool, until, type Executor } from '../testing/executor-rig.ts';
import { oneJournal } from '../testing/one-journal.ts';

describe('executors of one journal', () => {
  const { start, startAndKill, closeAll, url } = oneJournal();
  const serial: Partial<ToolContractInput> = { concurrency: 'per_resource', resources: ['ticket:{id}'] };
  const one = async <T extends object>(executor: Executor, sql: string, ...values: unknown[]): Promise<T> =>
    (await executor.database.query<T>({ text: sql, values }))[0]!;

  it.each(['natural', 'key'] as const)(
    'G5 J12 a killed executor: a %s write is run again with the same key, and settled once',
    async (mode) => {
      const of = tool({
        idempotency: mode === 'key' ? { mode, template: '{task}', place: { header: 'Idempotency-Key' } } : { mode },
      });
      const dead = await startAndKill();
      const granted = grant({ of });
      await dead.deliverGrants(granted);
      await until(() => dead.attempts.length === 1);
      const living = await start();
      expect(await living.settlement(granted.callId!)).toMatchObject({
        status: 'succeeded',
        replayed: false,
        attempts: 2,
      });
      expect(living.attempts.map((a) => a.operationKey)).toEqual(dead.attempts.map((a) => a.operationKey));
      expect(living.settlements(granted.callId!)).toHaveLength(1);
    },
  );

  it('G5 G9 J12 a killed executor never repeats a non-idempotent write: the call is outcome_unknown', async () => {
    const of = tool({ idempotency: { mode: 'none' } });
    const dead = await startAndKill();
    const granted = grant({ of });
    await dead.deliverGrants(granted);
    const living = await start();
    expect(await living.settlement(granted.callId!)).toMatchObject({
      status: 'outcome_unknown',
      effect: 'unknown',
      attempts: 1,
    });
    expect(living.attempts).toHaveLength(0);
  });

  it('G6 J9 a late owner with an old epoch changes nothing, and the fence grew with the takeover', async () => {
    let answer!: (outcome: RunOutcome) => void;
    const slow = await start({ workers: false, run: () => new Promise((resolve) => (answer = resolve)) });
    const granted = grant({ of: tool(serial), resources: [`ticket:${newCallId()}`] });
    await slow.deliverGrants(granted);
    await until(() => slow.attempts.length === 1);
    const living = await start({ run: () => answered({ id: 'second' }) });
    const settled = await living.settlement(granted.callId!);
    answer(answered({ id: 'late' }));
    await until(
      async () =>
        (await one<{ n: number }>(slow, `select count(*)::int n from call where state = 'succeeded'`)).n === 1,
    );
    await slow.settle();
    expect(settled.result?.sanitized).toEqual({ id: 'second' });
    expect(slow.settlements(granted.callId!)).toEqual([]);
    const fences = [slow, living].map((e) => Object.values(e.attempts[0]!.fence!)[0]!);
    expect(fences[1]).toBeGreaterThan(fences[0]!);
    expect((await one<{ holder: string | null }>(living, 'select holder from resource_hold')).holder).toBeNull();
  });

  it('G5 J3 two executors race with the same grant: one effect, one settlement', async () => {
    const [a, b] = await Promise.all([start(), start()]);
    for (let round = 0; round < 10; round++) {
      const granted = grant();
      await Promise.all([a.deliverGrants(granted), b.deliverGrants(granted)]);
      await until(() => a.settlements(granted.callId!)[0] ?? b.settlements(granted.callId!)[0]);
      expect([...a.attempts, ...b.attempts].filter((r) => r.callId === granted.callId)).toHaveLength(1);
    }
    expect((await one<{ n: number }>(a, 'select count(*)::int n from call_result')).n).toBe(10);
  });

  it('G7 two executors race with one key in two calls: one effect, the other call replays its record', async () => {
    const run = async (): Promise<RunOutcome> => {
      await new Promise((resolve) => setImmediate(resolve));
      return answered({ id: 'T' });
    };
    const [a, b] = await Promise.all([start({ run }), start({ run })]);
    for (let round = 0; round < 5; round++) {
      const first = grant();
      const second = grant({ operationKey: first.data.operationKey });
      await Promise.all([a.deliverGrants(first), b.deliverGrants(second)]);
      const settled = await Promise.all([a.settlement(first.callId!), b.settlement(second.callId!)]);
      expect(settled.map((s) => s.replayed).sort()).toEqual([false, true]);
    }
    expect(a.attempts.length + b.attempts.length).toBe(5);
  });

  it.each(['with the waiting room', 'with holds alone'])(
    'G6 J5 writes to one resource never overlap, and each has a higher fence (%s)',
    async (how) => {
      let inside = 0;
      let most = 0;
      const databases: Database[] = [];
      const run = async (): Promise<RunOutcome> => {
        most = Math.max(most, ++inside);
        await new Promise((resolve) => setTimeout(resolve, 2));
        inside--;
        return answered({ id: 'T' });
      };
      const executor = async (): Promise<Executor> => {
        // Longer than any pause of the machine: a takeover would raise the fence once more.
        const env = { COUNTERSIGN_LEASE_MS: '20000' };
        if (how === 'with holds alone') return start({ env, run });
        const database = new Database({ url: url(), schema: 'locks' });
        databases.push(database);
        return start({ env, run, locks: await createLocks({ kind: 'postgres', database }) });
      };
      const executors = [await executor(), await executor()];
      const of = tool(serial);
      const resources = [`ticket:${newCallId()}`];
      const granted = Array.from({ length: 12 }, () => grant({ of, resources }));
      await Promise.all([
        executors[0]!.deliverGrants(...granted.slice(0, 6)),
        executors[1]!.deliverGrants(...granted.slice(6)),
      ]);
      await until(() => executors.flatMap((e) => e.messagesOf('CallSettled')).length === 12);
      expect(most).toBe(1);
      const fences = executors.flatMap((e) => e.attempts.map((a) => a.fence![resources[0]!]!));
      expect([...fences].sort((x, y) => x - y)).toEqual(Array.from({ length: 12 }, (_, n) => n + 1));
      await closeAll();
      await Promise.all(databases.map((d) => d.close()));
    },
  );

  it('exclusive tools are serialized by the tool, parallel ones are not', async () => {
    let inside = 0;
    const most = { exclusive: 0, parallel: 0 };
    const both = Promise.withResolvers<void>();
    const executor = await start({
      run: async ({ contract }) => {
        const kind = contract.concurrency as 'exclusive' | 'parallel';
        most[kind] = Math.max(most[kind], ++inside);
        if (kind === 'parallel' && inside === 2) both.resolve();
        if (kind === 'parallel') await both.promise;
        inside--;
        return answered({});
      },
    });
    for (const concurrency of ['exclusive', 'parallel'] as const) {
      const of = tool({ name: `make_${concurrency}`, concurrency });
      const granted = [grant({ of }), grant({ of })];
      await executor.deliverGrants(...granted);
      await Promise.all(granted.map((g) => executor.settlement(g.callId!)));
    }
    expect(most).toEqual({ exclusive: 1, parallel: 2 });
  });

  it('a write that waits longer than allowed ends as BUSY without effect; its resource goes on', async () => {
    let finish!: () => void;
    const executor = await start({
      env: { COUNTERSIGN_LOCK_WAIT_MS: '60' },
      run: () => new Promise((resolve) => (finish = () => resolve(answered({})))),
    });
    const of = tool(serial);
    const resources = [`ticket:${newCallId()}`];
    const first = grant({ of, resources });
    await executor.deliverGrants(first);
    await until(() => executor.attempts.length === 1);
    const second = grant({ of, resources });
    await executor.deliverGrants(second);
    expect(await executor.settlement(second.callId!)).toMatchObject({
      status: 'failed',
      effect: 'none',
      error: { code: 'BUSY', retryable: true },
    });
    finish();
    expect(await executor.settlement(first.callId!)).toMatchObject({ status: 'succeeded' });
    expect(executor.attempts).toHaveLength(1);
  });

  it('G4 a queued call of a dead executor is taken up by another one', async () => {
    const dead = await startAndKill();
    const of = tool({ ...serial, idempotency: { mode: 'natural' } });
    const resources = [`ticket:${newCallId()}`];
    const [running, queued] = [grant({ of, resources }), grant({ of, resources })];
    await dead.deliverGrants(running);
    await dead.deliverGrants(queued);
    expect((await one<{ state: string }>(dead, 'select state from call where call_id = $1', queued.callId)).state).toBe(
      'queued',
    );
    const living = await start();
    const settled = await Promise.all([living.settlement(running.callId!), living.settlement(queued.callId!)]);
    expect(settled.map((s) => s.status)).toEqual(['succeeded', 'succeeded']);
    expect(living.attempts).toHaveLength(2);
  });

  it('G3 a queued call whose grant expires goes back to policy, and runs under the next decision', async () => {
    let finish!: () => void;
    const executor = await start({
      run: ({ attempt }) => new Promise((resolve) => (finish = () => resolve(answered({ attempt })))),
    });
    const of = tool(serial);
    const resources = [`ticket:${newCallId()}`];
    const first = grant({ of, resources });
    await executor.deliverGrants(first);
    await until(() => executor.attempts.length === 1);
    const now = Math.floor(Date.now() / 1000);
    const second = grant({ of, resources, claims: { iat: now - 50, exp: now + 1 } });
    await executor.deliverGrants(second);
    await until(() => executor.messagesOf('GrantReturned').length > 0);
    expect(executor.messagesOf('GrantReturned')).toMatchObject([{ callId: second.callId, data: { decisionNo: 1 } }]);
    expect(executor.settlements(second.callId!)).toEqual([]);
    finish();
    await executor.settlement(first.callId!);
    await executor.deliverGrants(
      grant({ of, resources, callId: second.callId!, operationKey: second.data.operationKey, decisionNo: 2 }),
    );
    await until(() => executor.attempts.length === 2);
    finish();
    expect(await executor.settlement(second.callId!)).toMatchObject({ status: 'succeeded', decisionNo: 2 });
  });

  it('a replay that its executor did not finish is answered by another one, without acting', async () => {
    const first = await start();
    const original = grant();
    await first.deliverGrants(original);
    await first.settlement(original.callId!);
    const repeat = grant({ operationKey: original.data.operationKey });
    await first.deliverGrants(repeat);
    await first.settlement(repeat.callId!);
    // As if the process had died between the two commits of the replay.
    await first.database.change({ text: 'delete from call_result where call_id = $1', values: [repeat.callId] });
    await first.database.change({
      text: `update call set state = 'intended', lease_owner = 'dead', lease_until = now() where call_id = $1`,
      values: [repeat.callId],
    });
    const living = await start();
    const settled = await until(() => living.settlements(repeat.callId!)[0] ?? first.settlements(repeat.callId!)[1]);
    expect(settled).toMatchObject({ status: 'succeeded', replayed: true });
    expect([...first.attempts, ...living.attempts]).toHaveLength(1);
  });

  it('a long call keeps its lease: no other executor takes it over', async () => {
    let finish!: () => void;
    const busy = await start({
      run: () => new Promise((resolve) => (finish = () => resolve(answered({ id: 'own' })))),
    });
    const other = await start();
    const granted = grant();
    await busy.deliverGrants(granted);
    const until3Leases = performance.now() + 1600;
    await until(() => performance.now() > until3Leases);
    finish();
    expect(await busy.settlement(granted.callId!)).toMatchObject({ status: 'succeeded', attempts: 1 });
    expect(other.attempts).toEqual([]);
  });

  it('a draining executor hands over what waits, and another one takes it at once', async () => {
    const first = await start({ env: { COUNTERSIGN_LEASE_MS: '60000' }, run: () => answered({}) });
    const of = tool(serial);
    const resources = [`ticket:${newCallId()}`];
    await first.database.change({
      text: `insert into resource_hold values ('dev', $1, 'someone', 1)`,
      values: resources,
    });
    const granted = grant({ of, resources });
    await first.deliverGrants(granted);
    for (const worker of first.parts.workers!) await worker.drain();
    await first.database.change({ text: 'update resource_hold set holder = null' });
    const next = await start({ env: { COUNTERSIGN_LEASE_MS: '60000' } });
    expect(await next.settlement(granted.callId!)).toMatchObject({ status: 'succeeded' });
  });
});
