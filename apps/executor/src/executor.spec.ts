import { callIdOf, newId } from '#kernel';
import {
  answered,
  failed,
  foreignKey,
  grant,
  newCallId,
  openExecutor,
  tool,
  until,
  type Executor,
} from '../testing/executor-rig.ts';

describe('the executor', () => {
  let executor: Executor;
  let outcome: (attempt: number) => ReturnType<typeof answered>;
  beforeAll(async () => {
    executor = await openExecutor({ run: (request) => outcome(request.attempt) });
  });
  afterAll(() => executor.close());
  beforeEach(() => {
    outcome = () => answered({ id: 'T-1' });
    executor.attempts.length = 0;
    executor.published.length = 0;
  });
  const count = async (sql: string, ...values: unknown[]): Promise<number> =>
    (await executor.database.query<{ n: number }>({ text: `select count(*)::int n from ${sql}`, values }))[0]!.n;

  it('G2 G3 a granted write acts once and is settled once, on the topic of its pool', async () => {
    const granted = grant({ claims: { approvalId: newId('appr') } });
    await executor.deliverGrants(granted);
    const settled = await executor.settlement(granted.callId!);
    expect(settled).toMatchObject({
      settledBy: 'executor',
      status: 'succeeded',
      effect: 'applied',
      replayed: false,
      attempts: 1,
      decisionNo: 1,
    });
    expect(settled.result?.sanitized).toEqual({ id: 'T-1' });
    expect(executor.attempts).toHaveLength(1);
    expect(executor.attempts[0]!.operationKey).toBe(granted.data.operationKey);
    expect(executor.published.map((p) => p.topic)).toEqual(['call.settled.default']);
    await executor.settle();
    expect(await count('outgoing')).toBe(0);
  });

  it('G7 the same grant again is answered with the stored bytes, no second effect', async () => {
    const granted = grant();
    await executor.deliverGrants(granted, granted);
    await executor.settlement(granted.callId!);
    await executor.deliverGrants(granted);
    const [first, second, ...more] = executor.published.filter((p) => p.message.callId === granted.callId);
    expect(second!.raw.value.equals(first!.raw.value)).toBe(true);
    expect(more).toEqual([]);
    expect(executor.attempts).toHaveLength(1);
  });

  it('G7 the same key and arguments in another call return the recorded result, replayed', async () => {
    const first = grant();
    await executor.deliverGrants(first);
    await executor.settlement(first.callId!);
    const second = grant({ operationKey: first.data.operationKey });
    await executor.deliverGrants(second);
    const settled = await executor.settlement(second.callId!);
    expect(settled).toMatchObject({ status: 'succeeded', replayed: true, attempts: 0, effect: 'applied' });
    expect(settled.result?.sanitized).toEqual({ id: 'T-1' });
    expect(executor.attempts).toHaveLength(1);
    expect(await count('grant_use where call_id = $1', second.callId)).toBe(1); // J2: a replay spends its grant
  });

  it('G7 the same key with other arguments is a conflict and acts not', async () => {
    const first = grant();
    await executor.deliverGrants(first);
    await executor.settlement(first.callId!);
    const second = grant({ operationKey: first.data.operationKey, args: { summary: 'other' } });
    await executor.deliverGrants(second);
    const settled = await executor.settlement(second.callId!);
    expect(settled).toMatchObject({ status: 'failed', effect: 'none', error: { code: 'IDEMPOTENCY_CONFLICT' } });
    expect(executor.attempts).toHaveLength(1);
  });

  it('G7 two calls with one key in one batch act once', async () => {
    const first = grant();
    const second = grant({ operationKey: first.data.operationKey });
    await executor.deliverGrants(first, second);
    const both = await Promise.all([executor.settlement(first.callId!), executor.settlement(second.callId!)]);
    expect(both.map((s) => s.replayed).sort()).toEqual([false, true]);
    expect(executor.attempts).toHaveLength(1);
  });

  it('G2 a forged grant has no effect and no settlement, and is reported', async () => {
    const forged = grant({ signWith: foreignKey });
    await executor.deliverGrants(forged);
    expect(executor.messagesOf('GrantRefused')).toMatchObject([
      { callId: forged.callId, data: { code: 'GRANT_INVALID', pool: 'default' } },
    ]);
    expect(executor.attempts).toHaveLength(0);
    expect(await count('call where call_id = $1', forged.callId)).toBe(0);
  });

  it('G2 a forged grant for a settled call does not bring its record out', async () => {
    const granted = grant();
    await executor.deliverGrants(granted);
    await executor.settlement(granted.callId!);
    await executor.deliverGrants(grant({ callId: granted.callId!, signWith: foreignKey }));
    expect(executor.messagesOf('GrantRefused')).toHaveLength(1);
    expect(executor.settlements(granted.callId!)).toHaveLength(1);
  });

  it.each([
    ['arguments changed after the approval', { data: { arguments: { summary: 'changed' } } }],
    ['another pool', { claims: { aud: 'payments' } }],
    ['another tenant', { claims: { tenant: 'other' } }],
    ['another key', { data: { operationKey: 'dev/user:alice/other' } }],
    ['other resources', { data: { resources: ['ticket:2'] } }],
    ['another principal', { claims: { principal: 'user:mallory' } }],
    ['another tool', { data: { tool: 'desk.delete_ticket@1.0.0' } }],
  ])('G3 a grant for %s is refused: no effect, no settlement', async (_what, change) => {
    const granted = grant(change);
    await executor.deliverGrants(granted);
    expect(executor.messagesOf('GrantRefused')).toMatchObject([{ data: { code: 'GRANT_INVALID' } }]);
    expect(executor.attempts).toHaveLength(0);
    expect(executor.messagesOf('CallSettled')).toEqual([]);
  });

  it('G3 an expired grant goes back, without effect under it; the next decision may run', async () => {
    const past = Math.floor(Date.now() / 1000) - 100;
    const expired = grant({ claims: { iat: past, exp: past + 30 } });
    await executor.deliverGrants(expired);
    expect(executor.messagesOf('GrantReturned')).toMatchObject([
      { callId: expired.callId, data: { decisionNo: 1, reason: 'GRANT_EXPIRED' } },
    ]);
    expect(executor.attempts).toHaveLength(0);
    const next = grant({ callId: expired.callId!, decisionNo: 2, operationKey: expired.data.operationKey });
    await executor.deliverGrants(next);
    expect(await executor.settlement(next.callId!)).toMatchObject({ status: 'succeeded', decisionNo: 2 });
  });

  it('G3 a spent grant put on another call is GRANT_SPENT', async () => {
    const granted = grant();
    await executor.deliverGrants(granted);
    await executor.settlement(granted.callId!);
    const other = newCallId();
    await executor.deliverGrants({ ...granted, callId: other, runId: `run_${other.slice(5, 31)}` });
    const minted = grant({ claims: { jti: `${granted.callId!}.1` } }); // even if policy itself signed it
    await executor.deliverGrants(minted);
    expect(executor.messagesOf('GrantRefused').map((m) => (m.data as { code: string }).code)).toEqual([
      'GRANT_SPENT',
      'GRANT_SPENT',
    ]);
    expect(executor.attempts).toHaveLength(1);
    expect(await count('call where call_id = any($1)', [other, minted.callId])).toBe(0);
  });

  it('G3 an approval is used once', async () => {
    const approvalId = newId('appr');
    const first = grant({ claims: { approvalId } });
    await executor.deliverGrants(first);
    await executor.settlement(first.callId!);
    await executor.deliverGrants(grant({ claims: { approvalId } }));
    expect(executor.messagesOf('GrantRefused')).toMatchObject([{ data: { code: 'GRANT_SPENT' } }]);
    expect(executor.attempts).toHaveLength(1);
  });

  it('a stored record is re-emitted before any check: also when the grant has expired meanwhile', async () => {
    const granted = grant({
      // Seconds are whole: one second ahead could be over before the intent; these leave at least four.
      claims: { iat: Math.floor(Date.now() / 1000) - 55, exp: Math.floor(Date.now() / 1000) + 5 },
    });
    await executor.deliverGrants(granted);
    await executor.settlement(granted.callId!);
    await until(
      () => Date.now() / 1000 > JSON.parse(Buffer.from(granted.data.grant.split('.')[1]!, 'base64url').toString()).exp,
    );
    await executor.deliverGrants(granted);
    expect(executor.settlements(granted.callId!)).toHaveLength(2);
    expect(executor.messagesOf('GrantReturned')).toEqual([]);
  });

  it('a read runs without an intent, is recorded once, and a repeat gets the record', async () => {
    const of = tool({ name: 'read_ticket', layer: 'read', sideEffects: 'none', idempotency: { mode: 'natural' } });
    const granted = grant({ of });
    await executor.deliverGrants(granted);
    expect(await executor.settlement(granted.callId!)).toMatchObject({
      status: 'succeeded',
      effect: 'none',
      replayed: false,
    });
    expect(await count('operation where call_id = $1', granted.callId)).toBe(0);
    await executor.deliverGrants(granted);
    expect(executor.settlements(granted.callId!)).toHaveLength(2);
    expect(executor.attempts).toHaveLength(1);
  });

  it('an expired grant of a read goes back', async () => {
    const of = tool({ name: 'read_ticket', layer: 'read', sideEffects: 'none', idempotency: { mode: 'natural' } });
    const past = Math.floor(Date.now() / 1000) - 100;
    await executor.deliverGrants(grant({ of, claims: { iat: past, exp: past + 30 } }));
    expect(executor.messagesOf('GrantReturned')).toHaveLength(1);
    expect(executor.attempts).toHaveLength(0);
  });

  it('J4 a failure without effect closes the generation: the next call of the key acts, under generation 2', async () => {
    outcome = () => failed('not_sent', true);
    const first = grant();
    await executor.deliverGrants(first);
    expect(await executor.settlement(first.callId!)).toMatchObject({
      status: 'failed',
      effect: 'none',
      error: { code: 'UPSTREAM_UNAVAILABLE' },
    });
    outcome = () => answered({ id: 'T-2' });
    const second = grant({ operationKey: first.data.operationKey, args: { summary: 'corrected' } });
    await executor.deliverGrants(second);
    expect(await executor.settlement(second.callId!)).toMatchObject({ status: 'succeeded', replayed: false });
    expect(await count('operation where call_id = $1 and generation = 2', second.callId)).toBe(1);
  });

  it('G5 a lost answer of a tool that honours the key is repeated with the same key', async () => {
    outcome = (attempt) => (attempt === 1 ? failed('maybe_sent', false) : answered({ id: 'T-3' }));
    const granted = grant();
    await executor.deliverGrants(granted);
    expect(await executor.settlement(granted.callId!)).toMatchObject({ status: 'succeeded', attempts: 2 });
    expect(new Set(executor.attempts.map((a) => a.operationKey)).size).toBe(1);
  });

  it('G5 G9 a lost answer of any other write is outcome_unknown, holds its resource, and its key never acts again', async () => {
    outcome = () => failed('maybe_sent', false);
    const of = tool({
      name: 'send_mail',
      idempotency: { mode: 'none' },
      concurrency: 'per_resource',
      resources: ['mail:{id}'],
    });
    const resources = [`mail:${newCallId()}`];
    const granted = grant({ of, resources });
    await executor.deliverGrants(granted);
    expect(await executor.settlement(granted.callId!)).toMatchObject({
      status: 'outcome_unknown',
      effect: 'unknown',
      attempts: 1,
      error: { code: 'OUTCOME_UNKNOWN', retryable: false },
    });
    expect(await count('resource_hold where holder = $1', granted.callId)).toBe(1);
    const joining = grant({ of, operationKey: granted.data.operationKey });
    await executor.deliverGrants(joining);
    expect(await executor.settlement(joining.callId!)).toMatchObject({ status: 'outcome_unknown' });
    expect(executor.attempts).toHaveLength(1);
  });

  it('a fault of one call does not touch the others of its batch', async () => {
    const good = [grant(), grant(), grant()];
    const past = Math.floor(Date.now() / 1000) - 100;
    await executor.deliverGrants(
      good[0]!,
      grant({ signWith: foreignKey }),
      good[1]!,
      grant({ claims: { iat: past, exp: past + 1 } }),
      good[2]!,
    );
    const settled = await Promise.all(good.map((g) => executor.settlement(g.callId!)));
    expect(settled.every((s) => s.status === 'succeeded')).toBe(true);
    expect(executor.messagesOf('GrantRefused')).toHaveLength(1);
    expect(executor.messagesOf('GrantReturned')).toHaveLength(1);
  });

  it('G12 the same key text of two tenants does not meet', async () => {
    const first = grant();
    const callId = callIdOf(newId('run'), 1);
    const second = {
      ...grant({ callId, operationKey: first.data.operationKey, claims: { tenant: 'other' } }),
      tenant: 'other',
    };
    await executor.deliverGrants(first, second);
    expect((await executor.settlement(first.callId!)).replayed).toBe(false);
    expect((await executor.settlement(callId)).replayed).toBe(false);
    expect(executor.attempts).toHaveLength(2);
  });
});
