import { newId } from '#kernel';
import {
  answered,
  failed,
  grant,
  newCallId,
  openExecutor,
  tool,
  until,
  type Executor,
  type RigOptions,
} from '../testing/executor-rig.ts';

type Run = NonNullable<RigOptions['run']>;

const read = () => tool({ layer: 'read', sideEffects: 'none', idempotency: { mode: 'natural' } });
const serial = () => tool({ name: 'update_ticket', resources: ['ticket:{ticket_id}'], concurrency: 'per_resource' });
const notBegun = { state: 'nothing_happened', evidence: 'not_begun', at: expect.any(String) };

describe('cancelling granted calls (G9)', () => {
  let executor: Executor;
  let run: Run;
  beforeAll(async () => {
    executor = await openExecutor({ run: (request) => run(request) });
  });
  afterAll(() => executor.close());
  beforeEach(() => {
    run = () => answered({ id: 'T-1' });
    executor.attempts.length = 0;
    executor.published.length = 0;
  });
  const settledAs = async (callId: string) => {
    const { status, effect, attempts, error, cancellation } = await executor.settlement(callId);
    return { status, effect, attempts, code: error?.code ?? null, cancellation };
  };
  const inWork = (callId: string) => until(() => executor.attempts.some((attempt) => attempt.callId === callId));
  /** A tool that answers when told to, or as `onStop` says when its call is cancelled. */
  const held = (onStop?: () => ReturnType<Run>) => {
    let answer!: () => void;
    run = (request) =>
      new Promise((resolve) => {
        answer = () => resolve(answered({ id: 'T-1' }));
        if (onStop) request.stop!.whenAsked(() => resolve(onStop()));
        request.stop!.whenOver(() => resolve(failed('maybe_sent', request.contract.layer === 'read')));
      });
    return () => answer();
  };

  it.each([
    ['a write', () => tool()],
    ['a read', read],
    ['a serialized write', serial],
  ])('K2 %s whose cancellation came before its grant never begins; then it is settled, once', async (_what, of) => {
    const granted = grant({ of: of(), resources: ['ticket:1'] });
    const callId = granted.callId!;
    await executor.cancel([callId]);
    expect(executor.published).toEqual([]); // K5
    await executor.deliverGrants(granted);
    expect(await settledAs(callId)).toEqual({
      status: 'cancelled',
      effect: 'none',
      attempts: 0,
      code: 'CANCELLED',
      cancellation: notBegun,
    });
    await executor.deliverGrants(granted, grant({ callId, decisionNo: 2 }));
    await executor.cancel([callId]);
    const bytes = executor.published.map(({ raw }) => raw.value.toString());
    expect(new Set(bytes).size).toBe(1);
    expect(executor.attempts).toEqual([]);
  });

  it('K2 a grant and its cancellation in one batch: it does not begin', async () => {
    const granted = grant();
    await executor.cancel([granted.callId!], { beside: [granted] });
    expect(await settledAs(granted.callId!)).toMatchObject({ status: 'cancelled', cancellation: notBegun });
    expect(executor.attempts).toEqual([]);
  });

  it('K1 a call that waits for its resource is settled at once, and frees nothing that is another one’s', async () => {
    const of = serial();
    const finish = held();
    const first = grant({ of, resources: ['ticket:7'] });
    const second = grant({ of, resources: ['ticket:7'] });
    await executor.deliverGrants(first, second);
    const running = await until(() => executor.attempts[0]?.callId);
    const waiting = [first, second].find(({ callId }) => callId !== running)!.callId!;
    await executor.cancel([waiting]);
    expect(await settledAs(waiting)).toMatchObject({ status: 'cancelled', effect: 'none', cancellation: notBegun });
    expect(executor.settlements(running)).toEqual([]);
    finish();
    expect(await settledAs(running)).toMatchObject({ status: 'succeeded' });
    expect(executor.attempts).toHaveLength(1);
    const third = grant({ of, resources: ['ticket:7'] });
    run = () => answered({ id: 'T-2' });
    await executor.deliverGrants(third);
    expect(await settledAs(third.callId!)).toMatchObject({ status: 'succeeded' });
  });

  it('K5 a grant that went back to policy is policy’s to end: cancelled silently, until another grant comes', async () => {
    const callId = newCallId();
    await executor.deliverGrants(grant({ callId }));
    await executor.settlement(callId);
    const other = newCallId();
    await executor.database.change({
      text: `insert into call (call_id, tenant, pool, state, decision_no, grant_digest, tool, class, key_hash, args_digest, repeat, lease_ms)
             select $1, tenant, pool, 'returned', 1, grant_digest, tool, class, key_hash, args_digest, repeat, lease_ms from call where call_id = $2`,
      values: [other, callId],
    });
    executor.published.length = 0;
    await executor.cancel([other]);
    expect(executor.published).toEqual([]);
    await executor.deliverGrants(grant({ callId: other, decisionNo: 2 }));
    expect(await settledAs(other)).toMatchObject({ status: 'cancelled', cancellation: notBegun });
  });

  it.each<[string, Parameters<typeof held>[0], object]>([
    [
      'completes all the same',
      () => answered({ id: 'T-1' }),
      {
        status: 'succeeded',
        effect: 'applied',
        cancellation: { state: 'completed_anyway', evidence: 'tool_answered' },
      },
    ],
    [
      'vouches that nothing was changed',
      () => failed('answered', true),
      { status: 'failed', effect: 'none', cancellation: { state: 'acknowledged', evidence: 'tool_vouched' } },
    ],
    [
      'was not reached',
      () => failed('not_sent', true, true),
      { status: 'failed', effect: 'none', code: 'UPSTREAM_UNAVAILABLE', cancellation: { evidence: 'not_sent' } },
    ],
    [
      'does not answer within the grace time',
      undefined,
      { status: 'outcome_unknown', effect: 'unknown', cancellation: { state: 'unknown', evidence: 'no_answer' } },
    ],
  ])('K3 a running write whose tool %s says so', async (_what, onStop, expected) => {
    held(onStop);
    const granted = grant();
    await executor.deliverGrants(granted);
    await inWork(granted.callId!);
    await executor.cancel([granted.callId!]);
    expect(await settledAs(granted.callId!)).toMatchObject(expected);
    expect(executor.attempts).toHaveLength(1);
    await executor.cancel([granted.callId!]);
    expect(executor.messagesOf('CallCancellation')).toEqual([]); // it stands in the settlement
  });

  it('K4 nothing is tried again once a call is to stop, whatever its contract allows', async () => {
    const of = tool({ retry: { attempts: 5, backoffMs: 60_000, capMs: 60_000 } });
    run = () => failed('answered', true, true);
    const granted = grant({ of });
    await executor.deliverGrants(granted);
    await inWork(granted.callId!);
    await executor.cancel([granted.callId!]);
    expect(await settledAs(granted.callId!)).toMatchObject({
      status: 'failed',
      effect: 'none',
      code: 'CANCELLED',
      attempts: 1,
      cancellation: { state: 'acknowledged', evidence: 'tool_vouched' },
    });
  });

  it('a running read is cut short: it changes nothing', async () => {
    held(() => failed('maybe_sent', true));
    const granted = grant({ of: read() });
    await executor.deliverGrants(granted);
    await inWork(granted.callId!);
    await executor.cancel([granted.callId!]);
    expect(await settledAs(granted.callId!)).toMatchObject({
      status: 'failed',
      effect: 'none',
      cancellation: { state: 'acknowledged', evidence: 'read_stopped' },
    });
  });

  it('when only the run’s time is over, what has begun comes to its end', async () => {
    const finish = held(() => failed('maybe_sent', false));
    const granted = grant();
    await executor.deliverGrants(granted);
    await inWork(granted.callId!);
    await executor.cancel([granted.callId!], { begun: 'finish' });
    finish();
    expect(await settledAs(granted.callId!)).toMatchObject({ status: 'succeeded', cancellation: undefined });
  });

  it.each([
    ['succeeded', () => answered({ id: 'T' }), 'completed_anyway'],
    ['failed', () => failed('answered', true), 'nothing_happened'],
  ])('a call that had %s before is told so, and is what it was', async (_status, outcome, state) => {
    run = outcome;
    const granted = grant({ claims: { approvalId: newId('appr') } });
    await executor.deliverGrants(granted);
    await executor.settlement(granted.callId!);
    await executor.cancel([granted.callId!]);
    await executor.cancel([granted.callId!]);
    const told = executor.messagesOf('CallCancellation');
    expect(told).toMatchObject([
      { callId: granted.callId, data: { state, evidence: 'settled_before' } },
      { id: told[0]!.id },
    ]);
    expect(executor.settlements(granted.callId!)).toHaveLength(1);
  });

  it('G12 another tenant cancels nothing', async () => {
    const finish = held(() => failed('maybe_sent', false));
    const granted = grant();
    await executor.deliverGrants(granted);
    await inWork(granted.callId!);
    await executor.cancel([granted.callId!], { tenant: 'other' });
    finish();
    expect(await settledAs(granted.callId!)).toMatchObject({ status: 'succeeded', cancellation: undefined });
    await executor.cancel([granted.callId!], { tenant: 'other' });
    expect(executor.messagesOf('CallCancellation')).toEqual([]);
  });
});

describe('cancelling across processes (G4, G9)', () => {
  it('the owner of a running call is told by its lease, whichever process got the cancellation', async () => {
    const one = await openExecutor({
      run: (request) => new Promise((resolve) => request.stop!.whenAsked(() => resolve(failed('answered', true)))),
    });
    const two = await openExecutor({ url: one.url });
    const granted = grant({ of: tool({ timeoutMs: 300 }) });
    await one.deliverGrants(granted);
    await until(() => one.attempts[0]);
    await two.cancel([granted.callId!]);
    expect(await one.settlement(granted.callId!)).toMatchObject({
      status: 'failed',
      cancellation: { state: 'acknowledged' },
    });
    await two.close();
    await one.close();
  });

  it.each([
    ['a write', tool, { status: 'outcome_unknown', cancellation: { state: 'unknown', evidence: 'no_answer' } }],
    [
      'an approved read',
      () => tool({ layer: 'read', sideEffects: 'none' }),
      { status: 'failed', effect: 'none', cancellation: { state: 'acknowledged', evidence: 'read_stopped' } },
    ],
  ])('K4 %s that a dead owner left and that is to stop is not run again', async (_what, of, expected) => {
    const dead = await openExecutor({ workers: false, run: () => new Promise(() => undefined) });
    const granted = grant({ of: of() });
    await dead.deliverGrants(granted);
    await until(() => dead.attempts[0]);
    const heir = await openExecutor({ url: dead.url, workers: false });
    await heir.cancel([granted.callId!]);
    await heir.startWorkers();
    expect(await heir.settlement(granted.callId!)).toMatchObject(expected);
    expect(heir.attempts).toEqual([]);
    await heir.close();
    await dead.close();
  });

  it('K1 of many cancellations and intents of one moment each call has one winner, and what it says is true', async () => {
    const one = await openExecutor();
    const two = await openExecutor({ url: one.url });
    const grants = Array.from({ length: 40 }, () => grant());
    const ids = grants.map(({ callId }) => callId!);
    const half = (n: number) => ids.filter((_, index) => index % 2 === n);
    await Promise.all([
      one.deliverGrants(...grants.slice(0, 20)),
      two.cancel(half(0)),
      two.deliverGrants(...grants.slice(20)),
      one.cancel(half(1)),
    ]);
    await one.deliverGrants(...grants); // what came after its cancellation, and repeats
    for (const callId of ids) {
      const { status, cancellation } = await until(() => [...one.settlements(callId), ...two.settlements(callId)][0]);
      const ran = [...one.attempts, ...two.attempts].filter((attempt) => attempt.callId === callId).length;
      expect([status, ran]).toEqual(status === 'succeeded' ? ['succeeded', 1] : [status, 0]);
      if (status !== 'succeeded') expect(cancellation?.state).toBe('nothing_happened');
    }
    await two.close();
    await one.close();
  });
});
