import { grantedTopic, message, type Message } from '#contracts';
import { answered, failed, grant, POOL, tool, until } from '../testing/executor-rig.ts';
import { oneJournal } from '../testing/one-journal.ts';

describe('a key that acts again after its effect was taken back (G7)', () => {
  const { start, startAndKill } = oneJournal();

  async function takenBack(own: Parameters<typeof tool>[0] = {}): Promise<Message<'CallGranted'>> {
    const executor = await start({ workers: false, run: () => answered({ id: 'T-1' }) });
    const granted = grant({ of: tool(own) });
    await executor.deliverGrants(granted);
    expect(await executor.settlement(granted.callId!)).toMatchObject({ status: 'succeeded' });
    const about = { tenant: 'dev', runId: granted.runId!, callId: granted.callId!, now: Date.now() };
    await executor.deliver(grantedTopic(POOL), message('CloseUndone', about, { commandId: 'cmd', by: 'user:olga' }));
    return granted;
  }

  it('J12 its executor is killed: the next one gives the source the same new key', async () => {
    const first = await takenBack();
    const again = grant({ operationKey: first.data.operationKey });
    const dead = await startAndKill();
    await dead.deliverGrants(again);
    await until(() => dead.attempts.length === 1);
    const living = await start();
    expect(await living.settlement(again.callId!)).toMatchObject({ status: 'succeeded', replayed: false });
    expect(living.attempts[0]!.operationKey).toBe(dead.attempts[0]!.operationKey);
    expect(living.attempts[0]!.operationKey).not.toBe(first.data.operationKey);
  });

  it('probes, in the call and long after it, ask for the key that the source was given', async () => {
    const reconcile = { tries: 1, firstMs: 1, capMs: 2, everyMs: 20 };
    const own: Parameters<typeof tool>[0] = { idempotency: { mode: 'none' }, reconcile };
    const first = await takenBack(own);
    const executor = await start({
      env: { COUNTERSIGN_RECONCILE_MS: '20' },
      run: () => failed('maybe_sent', false),
      probe: () =>
        executor.probes.length < 2
          ? { kind: 'cannot_tell', evidence: 'not yet' }
          : { kind: 'applied', evidence: 'it is there', value: {}, raw: Buffer.from('{}') },
    });
    const again = grant({ of: tool(own), operationKey: first.data.operationKey });
    await executor.deliverGrants(again);
    expect(await executor.settlement(again.callId!)).toMatchObject({ status: 'outcome_unknown' });
    await until(() => executor.messagesOf('CallReconciled')[0]);
    const given = executor.attempts[0]!.operationKey;
    expect(given).not.toBe(first.data.operationKey);
    expect(executor.probes.map(({ operationKey }) => operationKey)).toEqual([given, given]);
  });
});
