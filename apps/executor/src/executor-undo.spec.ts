import { grantedTopic, message, type Message, type Resolution } from '#contracts';
import { callIdOf, newId, runIdOfCall } from '#kernel';
import { answered, failed, grant, openExecutor, POOL, tool, until, type Executor } from '../testing/executor-rig.ts';

describe('the undo of a call in the journal (G5, G7)', () => {
  let executor: Executor;
  let outcome: () => ReturnType<typeof answered>;
  beforeAll(async () => {
    executor = await openExecutor({ run: () => outcome() });
  });
  afterAll(() => executor.close());
  beforeEach(() => {
    outcome = () => answered({ id: 'T-1' });
    executor.attempts.length = 0;
    executor.published.length = 0;
  });

  const close = tool({ name: 'close_ticket' });
  const undoOf = (undone: Message<'CallGranted'>, own: Parameters<typeof grant>[0] = {}) =>
    grant({
      of: close,
      operationKey: `dev/undo/${undone.callId}`,
      ...own,
      claims: { effectClass: 'undo', undoes: undone.callId!, ...own.claims },
      data: {
        effectClass: 'undo',
        undoes: { callId: undone.callId!, contractDigest: undone.data.contractDigest },
        ...own.data,
      },
    });
  const done = async (granted: Message<'CallGranted'>) => {
    await executor.deliverGrants(granted);
    return executor.settlement(granted.callId!);
  };
  const operation = async ({ callId }: Message<'CallGranted'>) =>
    (
      await executor.database.query<{ state: string; generation: number }>({
        text: 'select state, generation from operation where call_id = $1',
        values: [callId],
      })
    )[0];

  it('one that succeeded closes the operation in its own commit: the same key acts again', async () => {
    const first = grant();
    await done(first);
    const same = { operationKey: first.data.operationKey };
    const ofThisRun = callIdOf(runIdOfCall(first.callId!), 9998);
    expect(await done(grant({ ...same, callId: ofThisRun }))).toMatchObject({ replayed: true });
    const undo = await done(undoOf(first));
    expect(undo).toMatchObject({ status: 'succeeded', undoes: first.callId });
    expect(await operation(first)).toEqual({ state: 'closed', generation: 1 });
    const again = grant(same);
    expect(await done(again)).toMatchObject({ status: 'succeeded', replayed: false });
    expect(await operation(again)).toEqual({ state: 'succeeded', generation: 2 });
  });

  it('what acts again gives the source a new key, in all of its attempts: the old one would be answered from memory', async () => {
    const first = grant();
    await done(first);
    await done(undoOf(first));
    const same = { operationKey: first.data.operationKey };
    outcome = () => failed('maybe_sent', true) as never;
    await done(grant(same));
    outcome = () => answered({});
    await executor.database.change({
      text: `update operation set state = 'closed' where key_hash = (select key_hash from call where call_id = $1)`,
      values: [first.callId],
    });
    const third = grant(same);
    await done(third);
    await done(undoOf(third));
    await done(grant(same));
    const keys = executor.attempts
      .filter(({ contract }) => contract.name === 'create_ticket')
      .map(({ operationKey }) => operationKey);
    expect(keys[0]).toBe(first.data.operationKey);
    expect(new Set(keys.slice(1, -1)).size).toBe(1);
    expect(keys.length).toBeGreaterThan(4);
    expect(new Set(keys).size).toBe(3);
  });

  it('one that failed leaves it as it was; the next try is another attempt under the same key', async () => {
    const first = grant();
    await done(first);
    outcome = () => failed('answered', true) as never;
    expect(await done(undoOf(first))).toMatchObject({ status: 'failed', effect: 'none' });
    expect(await operation(first)).toMatchObject({ state: 'succeeded' });
    outcome = () => answered({});
    expect(await done(undoOf(first))).toMatchObject({ status: 'succeeded', replayed: false });
    expect(await operation(first)).toMatchObject({ state: 'closed' });
    const attempts = executor.attempts.length;
    expect(await done(undoOf(first))).toMatchObject({ status: 'succeeded', replayed: true });
    expect(executor.attempts).toHaveLength(attempts);
  });

  it('a late repeat of an undo does not close what the key has done since', async () => {
    const first = grant();
    await done(first);
    const undo = undoOf(first);
    await done(undo);
    const again = grant({ operationKey: first.data.operationKey });
    await done(again);
    await executor.deliverGrants(undo);
    await done(undoOf(first));
    expect(await operation(again)).toMatchObject({ state: 'succeeded' });
  });

  describe('whose outcome was unknown', () => {
    const lost = tool({ name: 'close_ticket', idempotency: { mode: 'none' } });
    const unknownUndo = async (first: Message<'CallGranted'>) => {
      await done(first);
      outcome = () => failed('maybe_sent', false) as never;
      const undo = undoOf(first, { of: lost });
      expect(await done(undo)).toMatchObject({ status: 'outcome_unknown' });
      expect(await operation(first)).toMatchObject({ state: 'succeeded' });
      outcome = () => answered({});
      return undo;
    };
    const say = async (undo: Message<'CallGranted'>, resolution: Resolution, times = 1) => {
      const { runId, callId } = undo;
      const principal = { id: 'user:olga', kind: 'user' as const, roles: ['operator'] };
      const data = { commandId: `cmd-${callId}`, principal, resolution, evidence: 'seen' };
      const command = message(
        'ReconcileCall',
        { tenant: 'dev', runId: runId!, callId: callId!, now: Date.now() },
        data,
      );
      for (let n = 0; n < times; n++) await executor.deliver(grantedTopic(POOL), command);
      return until(() =>
        (executor.messagesOf('CallReconciled') as Message<'CallReconciled'>[]).find((m) => m.callId === callId),
      );
    };

    it('applied, as it is found out: what it took back is closed in that commit, and the same key acts again', async () => {
      const first = grant();
      const undo = await unknownUndo(first);
      expect((await say(undo, 'applied', 2)).data).toMatchObject({ status: 'succeeded', undoes: first.callId });
      expect(await operation(first)).toEqual({ state: 'closed', generation: 1 });
      const again = grant({ operationKey: first.data.operationKey });
      expect(await done(again)).toMatchObject({ status: 'succeeded', replayed: false });
      expect((await say(undo, 'applied')).data.amendment).toBe(1);
      expect(await operation(again)).toEqual({ state: 'succeeded', generation: 2 });
    });

    it('not applied: what it was to take back stands; the next undo acts', async () => {
      const first = grant();
      const undo = await unknownUndo(first);
      await say(undo, 'not_applied');
      expect(await operation(first)).toMatchObject({ state: 'succeeded' });
      expect(await done(undoOf(first, { of: lost, operationKey: undo.data.operationKey }))).toMatchObject({
        status: 'succeeded',
        replayed: false,
      });
      expect(await operation(first)).toMatchObject({ state: 'closed' });
    });

    it('an undo that joined it learns it, too', async () => {
      const first = grant();
      const undo = await unknownUndo(first);
      const joined = undoOf(first, { of: lost, operationKey: undo.data.operationKey });
      expect(await done(joined)).toMatchObject({ status: 'outcome_unknown', replayed: true });
      await say(undo, 'applied');
      await until(() => executor.messagesOf('CallReconciled').find(({ callId }) => callId === joined.callId));
      expect(await operation(first)).toMatchObject({ state: 'closed' });
    });
  });

  describe('by other means, as a person says', () => {
    const byHand = async ({ callId, runId }: Message<'CallGranted'>, tenant = 'dev', pool = POOL) =>
      executor.deliver(
        grantedTopic(pool),
        message(
          'CloseUndone',
          { tenant, runId: runId!, callId: callId!, now: Date.now() },
          { commandId: 'cmd', by: 'user:olga' },
        ),
      );

    it('closes the operation durably: the same key acts again; said late or twice it closes nothing newer', async () => {
      const first = grant();
      await done(first);
      await byHand(first);
      expect(await operation(first)).toEqual({ state: 'closed', generation: 1 });
      const again = grant({ operationKey: first.data.operationKey });
      expect(await done(again)).toMatchObject({ status: 'succeeded', replayed: false });
      await byHand(first);
      expect(await operation(again)).toEqual({ state: 'succeeded', generation: 2 });
    });

    it('of another tenant or pool, unknown here, or not known to stand: nothing is closed (G12)', async () => {
      const first = grant();
      await done(first);
      await byHand(first, 'else');
      await executor.database.change({
        text: `update call set pool = 'other' where call_id = $1`,
        values: [first.callId],
      });
      await byHand(first);
      await byHand(grant());
      expect(await operation(first)).toMatchObject({ state: 'succeeded' });
      outcome = () => failed('maybe_sent', false) as never;
      const lost = grant({ of: tool({ idempotency: { mode: 'none' } }) });
      expect(await done(lost)).toMatchObject({ status: 'outcome_unknown' });
      await byHand(lost);
      expect(await operation(lost)).toMatchObject({ state: 'unknown' });
    });
  });

  describe('of what another run was answered with (J15)', () => {
    const returned = (callId: string) =>
      until(() => executor.messagesOf('GrantReturned').find((m) => m.callId === callId)?.data);

    it('goes back to policy, which asks a person; with an approval it runs', async () => {
      const first = grant();
      await done(first);
      await done(grant({ operationKey: first.data.operationKey }));
      const undo = undoOf(first);
      const attempts = executor.attempts.length;
      await executor.deliverGrants(undo);
      expect(await returned(undo.callId!)).toMatchObject({ reason: 'REPLAYED_ELSEWHERE' });
      expect(executor.attempts).toHaveLength(attempts);
      const approved = undoOf(first, {
        callId: undo.callId!,
        decisionNo: 2,
        claims: { approvalId: newId('appr') },
      });
      expect(await done(approved)).toMatchObject({ status: 'succeeded', undoes: first.callId });
      expect(await operation(first)).toMatchObject({ state: 'closed' });
    });

    it('runs unasked where only its own run was answered, and where the key acted anew since', async () => {
      const first = grant();
      await done(first);
      const own = callIdOf(runIdOfCall(first.callId!), 9999);
      const again = { operationKey: first.data.operationKey };
      expect(await done(grant({ ...again, callId: own }))).toMatchObject({ replayed: true });
      expect(await done(undoOf(first))).toMatchObject({ status: 'succeeded' });
      const next = grant(again);
      expect(await done(next)).toMatchObject({ replayed: false });
      expect(await done(undoOf(next))).toMatchObject({ status: 'succeeded', replayed: false });
    });
  });

  it('a grant that names another undone call than its message is refused (G3)', async () => {
    const [first, other] = [grant(), grant()];
    const forged = undoOf(first, {
      data: { undoes: { callId: other.callId!, contractDigest: other.data.contractDigest } },
    });
    await executor.deliverGrants(forged);
    const refused = await until(() =>
      executor.messagesOf('GrantRefused').find(({ callId }) => callId === forged.callId),
    );
    expect(refused.data).toMatchObject({ code: 'GRANT_INVALID' });
    expect(executor.attempts).toEqual([]);
  });
});
