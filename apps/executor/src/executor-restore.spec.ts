import pg from 'pg';
import { grant, newCallId, openExecutor, tool, until } from '../testing/executor-rig.ts';

const once = () => tool({ name: 'send_letter', idempotency: { mode: 'none' } });

/** The journal's database as it is, under another name: PostgreSQL's own copy of its files. */
async function backupOf(url: string): Promise<string> {
  const copy = new URL(url);
  const [name, backup] = [copy.pathname.slice(1), `${copy.pathname.slice(1)}_backup`];
  const client = new pg.Client(process.env.TEST_DATABASE_URL);
  await client.connect();
  await client.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  await client.query(`create database ${backup} template ${name}`);
  await client.end();
  copy.pathname = `/${backup}`;
  return copy.href;
}

async function drop(url: string): Promise<void> {
  const client = new pg.Client(process.env.TEST_DATABASE_URL);
  await client.connect();
  await client.query(`drop database ${new URL(url).pathname.slice(1)} with (force)`);
  await client.end();
}

describe('a journal that is restored from a backup (G4, G5)', () => {
  it('J14 no effect repeats: what was granted before and cannot be repeated safely is unknown, the rest is judged again', async () => {
    const before = await openExecutor({ workers: false });
    const early = grant({ of: once() });
    await before.deliverGrants(early);
    await before.settlement(early.callId!);
    await before.settle();
    const backup = await backupOf(before.url);
    const letter = grant({ of: once() });
    const ticket = grant();
    const late = grant({ of: once(), claims: { exp: Math.floor(Date.now() / 1000) + 1 } });
    await before.deliverGrants(letter, ticket, late);
    for (const { callId } of [letter, ticket, late]) await before.settlement(callId!);
    const sent = new Map(before.attempts.map(({ callId }) => [callId, 1]));
    expect(sent.size).toBe(4);

    const restored = await openExecutor({ url: backup, workers: false });
    await restored.database.change({ text: 'update journal set epoch = epoch + 1' });
    await restored.startWorkers();
    // The broker delivers again what it has, and policy repeats what it granted before, also when it has expired.
    await until(() => Date.now() > endOf(late));
    await restored.deliverGrants(early, letter, ticket, late);
    expect(await restored.settlement(early.callId!)).toMatchObject({ status: 'succeeded' });
    expect(await restored.settlement(letter.callId!)).toMatchObject({
      status: 'outcome_unknown',
      effect: 'unknown',
      error: { code: 'OUTCOME_UNKNOWN' },
    });
    expect(await restored.settlement(late.callId!)).toMatchObject({ status: 'outcome_unknown' });
    expect(restored.messagesOf('GrantReturned')).toMatchObject([{ callId: ticket.callId }]);
    expect(restored.attempts).toEqual([]);

    const fresh = grant({ of: once(), callId: newCallId(), claims: { journalEpoch: 2 } });
    const again = grant({ callId: letter.callId!, decisionNo: 2, of: once(), claims: { journalEpoch: 2 } });
    await restored.deliverGrants(fresh, again);
    expect(await restored.settlement(fresh.callId!)).toMatchObject({ status: 'succeeded' });
    expect(restored.attempts.map(({ callId }) => callId)).toEqual([fresh.callId]);
    await restored.close();
    await before.close();
    await drop(backup);
  });

  it.each(['applied', 'not_applied'] as const)(
    'J14 U1 a call that the restored journal does not know is probed as any unknown one: %s',
    async (kind) => {
      const of = tool({ name: 'send_parcel', idempotency: { mode: 'none' }, reconcile: { final: true } });
      const executor = await openExecutor({
        env: { COUNTERSIGN_RECONCILE_MS: '20' },
        probe: () =>
          kind === 'applied' ? { kind, evidence: 'it is there', value: {} } : { kind, evidence: 'it is not' },
      });
      await executor.database.change({ text: 'update journal set epoch = epoch + 1' });
      const parcel = grant({ of });
      await executor.deliverGrants(parcel);
      expect(await executor.settlement(parcel.callId!)).toMatchObject({
        status: 'outcome_unknown',
        error: { code: 'OUTCOME_UNKNOWN', humanTakeover: false },
      });
      const reconciled = await until(() => executor.messagesOf('CallReconciled')[0]);
      expect(reconciled).toMatchObject({
        callId: parcel.callId,
        data: { reconciledBy: 'probe', status: kind === 'applied' ? 'succeeded' : 'failed' },
      });
      expect(executor.attempts).toEqual([]);
      await executor.close();
    },
  );
});

const endOf = ({ occurredAt }: { occurredAt: string }): number => Date.parse(occurredAt) + 1500;
