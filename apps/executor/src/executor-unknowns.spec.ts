import {
  grantedTopic,
  message,
  type CallReconciled,
  type Message,
  type Resolution,
  type ToolContractInput,
} from '#contracts';
import type { OpenUnknowns } from './adapters/reconciliation.query.ts';
import type { ProbeOutcome, RunOutcome } from './domain/tool-runner.port.ts';
import { answered, failed, grant, newCallId, POOL, tool, until, type Executor } from '../testing/executor-rig.ts';
import { oneJournal } from '../testing/one-journal.ts';

type Reconcile = NonNullable<ToolContractInput['reconcile']>;
const QUICK: Reconcile = { tries: 2, firstMs: 1, capMs: 2, everyMs: 20 };
const none: Partial<ToolContractInput> = { idempotency: { mode: 'none' } };
const said = (kind: ProbeOutcome['kind']): ProbeOutcome =>
  ({ kind, evidence: `the probe says ${kind}` }) as ProbeOutcome;

describe('unknown outcomes', () => {
  const { start, startAndKill } = oneJournal({ env: { COUNTERSIGN_RECONCILE_MS: '20' } });

  const amendments = (executor: Executor, callId: string): CallReconciled[] =>
    (executor.messagesOf('CallReconciled') as Message<'CallReconciled'>[])
      .filter((one) => one.callId === callId)
      .map((one) => one.data);
  const amended = (executor: Executor, callId: string): Promise<CallReconciled> =>
    until(() => amendments(executor, callId).find((one) => one.status !== 'needs_human'));
  const resolve = (
    granted: Message<'CallGranted'>,
    resolution: Resolution,
    own: { by?: string; commandId?: string; tenant?: string; result?: unknown } = {},
  ): Message<'ReconcileCall'> =>
    message(
      'ReconcileCall',
      { tenant: own.tenant ?? 'dev', runId: granted.runId!, callId: granted.callId!, now: Date.now() },
      {
        commandId: own.commandId ?? `cmd-${resolution}-${own.by ?? 'olga'}`,
        principal: { id: `user:${own.by ?? 'olga'}`, kind: 'user', roles: ['operator'] },
        resolution,
        evidence: 'looked into the ledger',
        ...(own.result === undefined ? {} : { result: own.result }),
      },
    );
  const say = (executor: Executor, command: Message): Promise<void> => executor.deliver(grantedTopic(POOL), command);
  const one = async <T extends object>(executor: Executor, sql: string, ...values: unknown[]): Promise<T> =>
    (await executor.database.query<T>({ text: sql, values }))[0]!;
  const operation = async (executor: Executor): Promise<string> =>
    (await one<{ state: string }>(executor, 'select state from operation')).state;
  /** A write without key that was sent and never answered. */
  const unknownCall = async (executor: Executor, own: Partial<ToolContractInput> = {}, resources: string[] = []) => {
    const granted = grant({ of: tool({ ...none, ...own }), resources });
    await executor.deliverGrants(granted);
    expect(await executor.settlement(granted.callId!)).toMatchObject({ status: 'outcome_unknown' });
    return granted;
  };
  const lost = (): RunOutcome => failed('maybe_sent', false);

  describe('a probe, while the call is in work', () => {
    it.each([
      ['applied', {}, { status: 'succeeded', effect: 'applied', attempts: 1 }, 1],
      ['not_applied', { final: true }, { status: 'succeeded', effect: 'applied', attempts: 2 }, 2],
      ['not_applied', {}, { status: 'outcome_unknown', effect: 'unknown' }, 1],
      ['partly', { partialEffect: true }, { status: 'outcome_unknown', effect: 'unknown' }, 1],
      ['cannot_tell', {}, { status: 'outcome_unknown', effect: 'unknown', error: { humanTakeover: false } }, 1],
    ] as const)('G5 after a lost answer: %s %j', async (kind, own, expected, attempts) => {
      const executor = await start({
        run: ({ attempt }) => (attempt === 1 ? lost() : answered({ id: 'T' })),
        probe: () => said(kind),
      });
      const granted = grant({ of: tool({ ...none, reconcile: { ...QUICK, everyMs: 60_000, ...own } }) });
      await executor.deliverGrants(granted);
      expect(await executor.settlement(granted.callId!)).toMatchObject(expected);
      expect(executor.attempts).toHaveLength(attempts);
    });

    it('G5 a final "not applied" to every attempt ends as failed without effect, and frees the key', async () => {
      const executor = await start({ run: lost, probe: () => said('not_applied') });
      const granted = grant({ of: tool({ ...none, reconcile: { ...QUICK, final: true } }) });
      await executor.deliverGrants(granted);
      expect(await executor.settlement(granted.callId!)).toMatchObject({
        status: 'failed',
        effect: 'none',
        attempts: 2,
        error: { code: 'TIMEOUT', retryable: true },
      });
      expect(await operation(executor)).toBe('closed');
    });

    it.each([
      ['applied', 0, 'succeeded'],
      ['not_applied', 1, 'succeeded'],
      ['cannot_tell', 0, 'outcome_unknown'],
    ] as const)(
      'G5 J12 killed between send and answer, then the probe says %s: %d more attempts, %s',
      async (kind, more, status) => {
        const of = tool({ ...none, reconcile: { ...QUICK, final: true, everyMs: 60_000 } });
        const dead = await startAndKill();
        const granted = grant({ of });
        await dead.deliverGrants(granted);
        await until(() => dead.attempts.length === 1);
        const living = await start({ probe: () => said(kind) });
        expect(await living.settlement(granted.callId!)).toMatchObject({ status });
        expect(living.attempts).toHaveLength(more);
        expect(living.probes[0]!.operationKey).toBe(dead.attempts[0]!.operationKey);
      },
    );

    it('a key that the tool honours is repeated first; the probe is asked when that is lost, too', async () => {
      const executor = await start({ run: lost, probe: () => said('applied') });
      const granted = grant({ of: tool({ reconcile: QUICK }) });
      await executor.deliverGrants(granted);
      expect(await executor.settlement(granted.callId!)).toMatchObject({ status: 'succeeded', attempts: 2 });
      expect(executor.probes).toHaveLength(1);
    });
  });

  describe('a probe, after the call was settled as unknown', () => {
    it('G5 G9 goes on looking until it is applied: amended once, the operation completed, the settlement as it was', async () => {
      let kind: ProbeOutcome['kind'] = 'cannot_tell';
      const executor = await start({
        run: lost,
        probe: () =>
          kind === 'applied'
            ? ({ ...said(kind), value: { id: 'T-1' }, raw: Buffer.from('{}') } as ProbeOutcome)
            : said(kind),
      });
      const granted = await unknownCall(executor, { reconcile: QUICK });
      kind = 'applied';
      expect(await amended(executor, granted.callId!)).toMatchObject({
        amendment: 1,
        reconciledBy: 'probe',
        status: 'succeeded',
        effect: 'applied',
        evidence: 'the probe says applied',
        result: { sanitized: { id: 'T-1' } },
      });
      expect(await operation(executor)).toBe('succeeded');
      await executor.deliverGrants(granted);
      expect(executor.settlements(granted.callId!).map((s) => s.status)).toEqual([
        'outcome_unknown',
        'outcome_unknown',
      ]);
      expect(executor.attempts).toHaveLength(1);
    });

    it('G4 survives a restart: another process goes on by the database alone', async () => {
      const first = await start({ run: lost, probe: () => said('cannot_tell') });
      const granted = await unknownCall(first, { reconcile: QUICK });
      for (const worker of first.parts.workers!) await worker.drain();
      const second = await start({ probe: () => said('applied') });
      expect(await amended(second, granted.callId!)).toMatchObject({ status: 'succeeded' });
    });

    it.each([
      ['partly', { partialEffect: true }, 'partial'],
      ['cannot_tell', { forMs: 0 }, 'unknown'],
    ] as const)('%s %j is left to a person, and nobody looks any more', async (kind, own, effect) => {
      const executor = await start({ run: lost, probe: () => said(kind) });
      const granted = await unknownCall(executor, { reconcile: { ...QUICK, ...own } });
      await until(() => amendments(executor, granted.callId!)[0]);
      expect(amendments(executor, granted.callId!)).toMatchObject([
        { status: 'needs_human', effect, reconciledBy: 'probe' },
      ]);
      expect(await one(executor, 'select state, next_look from reconciliation')).toEqual({
        state: 'needs_human',
        next_look: null,
      });
      expect(await operation(executor)).toBe('unknown');
    });

    it('a look whose lease ended decides nothing: the later one does (U4)', async () => {
      const asked: PromiseWithResolvers<ProbeOutcome>[] = [];
      const executor = await start({
        run: lost,
        probe: () => {
          asked.push(Promise.withResolvers());
          return asked.at(-1)!.promise;
        },
      });
      const granted = grant({ of: tool({ ...none, reconcile: { ...QUICK, tries: 1 } }) });
      await executor.deliverGrants(granted);
      await until(() => asked[0]);
      asked[0]!.resolve(said('cannot_tell'));
      await until(() => asked[1]);
      await executor.database.change({ text: 'update reconciliation set epoch = epoch + 1, next_look = now()' });
      asked[1]!.resolve(said('applied'));
      await until(() => asked[2]);
      expect(amendments(executor, granted.callId!)).toEqual([]);
      asked[2]!.resolve(said('applied'));
      expect(await amended(executor, granted.callId!)).toMatchObject({ amendment: 1, status: 'succeeded' });
    });
  });

  describe('a person', () => {
    it.each([
      ['applied', 'succeeded', 'applied', 'succeeded'],
      ['not_applied', 'failed', 'none', 'closed'],
      ['partially_applied', 'partially_applied', 'partial', 'unknown'],
    ] as const)('G9 says %s: %s, effect %s, operation %s, holds go', async (resolution, status, effect, state) => {
      const executor = await start({ run: lost });
      const resource = `ticket:${newCallId()}`;
      const own = { concurrency: 'per_resource', resources: ['ticket:{id}'] } as const;
      const granted = await unknownCall(executor, { ...own, resources: [...own.resources] }, [resource]);
      const holder = () => one<{ holder: string | null }>(executor, 'select holder from resource_hold');
      expect((await holder()).holder).toBe(granted.callId);
      await say(executor, resolve(granted, resolution));
      expect(amendments(executor, granted.callId!)).toMatchObject([
        {
          amendment: 1,
          reconciledBy: 'person',
          status,
          effect,
          principal: { id: 'user:olga' },
          evidence: 'looked into the ledger',
        },
      ]);
      expect(await operation(executor)).toBe(state);
      expect((await holder()).holder).toBeNull();
    });

    it('the same command again is answered with what stands, and adds nothing; another one learns what stands', async () => {
      const executor = await start({ run: lost });
      const granted = await unknownCall(executor);
      const command = resolve(granted, 'applied');
      await say(executor, command);
      await say(executor, command);
      await say(executor, resolve(granted, 'not_applied', { by: 'otto' }));
      const told = amendments(executor, granted.callId!);
      expect(told).toHaveLength(3);
      expect(new Set(told.map((one) => JSON.stringify(one))).size).toBe(1);
      expect(await operation(executor)).toBe('succeeded');
    });

    it('G12 a resolution of another tenant, or for a call that is not unknown, changes nothing', async () => {
      const executor = await start({ run: lost });
      const granted = await unknownCall(executor);
      await say(executor, resolve(granted, 'not_applied', { tenant: 'other' }));
      await say(executor, resolve(grant(), 'applied'));
      expect(executor.messagesOf('CallReconciled')).toEqual([]);
      expect(await operation(executor)).toBe('unknown');
    });

    it.each(['the contract', 'the setting'])('with four eyes by %s two people must say the same', async (by) => {
      const executor = await start({
        run: lost,
        env: by === 'the setting' ? { COUNTERSIGN_RESOLVE_FOUR_EYES: '1' } : {},
      });
      const granted = await unknownCall(executor, by === 'the setting' ? {} : { onUnknown: { fourEyes: true } });
      const tell = (resolution: Resolution, who: string, n: number) =>
        say(executor, resolve(granted, resolution, { by: who, commandId: `cmd-${n}` }));
      await tell('applied', 'olga', 1);
      await tell('applied', 'olga', 1);
      await tell('applied', 'olga', 2);
      await tell('not_applied', 'otto', 3);
      expect(amendments(executor, granted.callId!).map((a) => [a.amendment, a.status, a.proposed])).toEqual([
        [1, 'needs_human', 'applied'],
        [1, 'needs_human', 'applied'],
        [2, 'needs_human', 'applied'],
        [3, 'needs_human', 'not_applied'],
      ]);
      await tell('not_applied', 'olga', 4);
      expect(await amended(executor, granted.callId!)).toMatchObject({
        amendment: 4,
        status: 'failed',
        effect: 'none',
      });
    });

    it('races with a probe: one of them decides, and the operation is as it said', async () => {
      let kind: ProbeOutcome['kind'] = 'cannot_tell';
      const executor = await start({ run: lost, probe: () => said(kind) });
      for (let round = 0; round < 5; round++) {
        kind = 'cannot_tell';
        const granted = await unknownCall(executor, { reconcile: { ...QUICK, tries: 1, everyMs: 1 } });
        kind = 'applied';
        await say(executor, resolve(granted, 'not_applied'));
        const told = amendments(executor, granted.callId!);
        const statuses = new Set(told.map(({ amendment, status }) => `${amendment} ${status}`));
        expect(statuses.size).toBe(1);
        const { state } = await one<{ state: string }>(
          executor,
          'select state from operation where call_id = $1',
          granted.callId,
        );
        expect(state).toBe(told[0]!.status === 'succeeded' ? 'succeeded' : 'closed');
      }
    });
  });

  it('G7 a key that is found to be applied answers its record; one that is found not to be runs again', async () => {
    const executor = await start({
      run: ({ callId }) => (callId === second.callId ? answered({ id: 'again' }) : lost()),
    });
    const of = tool({ retry: { attempts: 1, backoffMs: 1, capMs: 1 } });
    const first = grant({ of });
    const second = grant({ of, operationKey: first.data.operationKey });
    await executor.deliverGrants(first);
    expect(await executor.settlement(first.callId!)).toMatchObject({ status: 'outcome_unknown' });
    await say(executor, resolve(first, 'not_applied'));
    await executor.deliverGrants(second);
    expect(await executor.settlement(second.callId!)).toMatchObject({ status: 'succeeded', replayed: false });

    const third = grant({ of });
    await executor.deliverGrants(third);
    await executor.settlement(third.callId!);
    await say(executor, resolve(third, 'applied', { result: { id: 'T-9' } }));
    const fourth = grant({ of, operationKey: third.data.operationKey });
    await executor.deliverGrants(fourth);
    expect(await executor.settlement(fourth.callId!)).toMatchObject({
      status: 'succeeded',
      effect: 'applied',
      replayed: true,
      error: null,
      result: { sanitized: { id: 'T-9' } },
    });
  });

  it('G7 a call that joined an unknown key learns what became of it, whichever came first', async () => {
    const executor = await start({ run: lost });
    const of = tool();
    const first = grant({ of });
    await executor.deliverGrants(first);
    await executor.settlement(first.callId!);
    const joined = grant({ of, operationKey: first.data.operationKey });
    await executor.deliverGrants(joined);
    expect(await executor.settlement(joined.callId!)).toMatchObject({ status: 'outcome_unknown', replayed: true });
    await say(executor, resolve(first, 'applied'));
    for (const { callId } of [first, joined])
      expect(await amended(executor, callId!)).toMatchObject({ status: 'succeeded', effect: 'applied' });
    // As if its settlement had come after the decision.
    await executor.database.change({
      text: `update reconciliation set state = 'open', amendment = 0, next_look = now() where call_id = $1`,
      values: [joined.callId],
    });
    await until(() => amendments(executor, joined.callId!).length === 2);
    expect(executor.attempts.every(({ callId }) => callId === first.callId)).toBe(true);
  });

  describe('a late answer', () => {
    /** An owner whose tool has not answered yet, and whose call another one has settled as unknown. */
    const overtaken = async () => {
      const { promise, resolve: answer } = Promise.withResolvers<RunOutcome>();
      const slow = await start({ workers: false, run: () => promise });
      const granted = grant({ of: tool(none) });
      await slow.deliverGrants(granted);
      await until(() => slow.attempts.length === 1);
      const living = await start();
      expect(await living.settlement(granted.callId!)).toMatchObject({ status: 'outcome_unknown' });
      return { slow, living, granted, answer };
    };

    it('G9 J9 of an owner whose call was taken over and settled as unknown decides it, by the same update', async () => {
      const { slow, granted, answer } = await overtaken();
      answer(answered({ id: 'late' }));
      expect(await amended(slow, granted.callId!)).toMatchObject({
        reconciledBy: 'late_answer',
        status: 'succeeded',
        result: { sanitized: { id: 'late' } },
      });
      expect(await operation(slow)).toBe('succeeded');
    });

    it('never overwrites: after a person has decided it is evidence alone', async () => {
      const { slow, living, granted, answer } = await overtaken();
      await say(living, resolve(granted, 'not_applied'));
      answer(answered({ id: 'late' }));
      await until(
        async () =>
          (
            await one<{ n: number }>(
              slow,
              `select count(*)::int n from reconciliation_evidence where source = 'late_answer'`,
            )
          ).n,
      );
      expect(await one(slow, 'select state, amendment from reconciliation')).toEqual({ state: 'failed', amendment: 1 });
      expect(amendments(slow, granted.callId!)).toEqual([]);
    });

    it('a failure that comes late proves nothing', async () => {
      const { slow, answer } = await overtaken();
      answer(failed('answered', true));
      await until(
        async () => (await one<{ n: number }>(slow, `select count(*)::int n from reconciliation_evidence`)).n,
      );
      expect(await one(slow, 'select state from reconciliation')).toEqual({ state: 'open' });
    });
  });

  it('holds of an unknown outcome go on at once where the contract says so', async () => {
    const executor = await start({ run: lost });
    const own = { concurrency: 'per_resource', resources: ['ticket:{id}'], onUnknown: { holds: 'continue' } } as const;
    await unknownCall(executor, { ...own, resources: [...own.resources] }, [`ticket:${newCallId()}`]);
    expect((await one<{ holder: string | null }>(executor, 'select holder from resource_hold')).holder).toBeNull();
  });

  it('counts what is unknown, without naming anything', async () => {
    const executor = await start({ run: lost });
    await unknownCall(executor);
    const counted = await executor.read<OpenUnknowns>('unknowns', {});
    expect(counted).toMatchObject({ open: 1, needsHuman: 0 });
    expect(counted.oldestMs).toBeGreaterThanOrEqual(0);
  });
});
