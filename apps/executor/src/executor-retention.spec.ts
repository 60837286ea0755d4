import { callSettledSchema } from '#contracts';
import { answered, failed, grant, tool, until, type Executor } from '../testing/executor-rig.ts';
import { oneJournal } from '../testing/one-journal.ts';
import { JournalRepository } from './adapters/journal.repository.ts';
import { shrinkRecord } from './domain/shrink-record.ts';
import { retention } from './work/retention.ts';

const SECRET = 'canary-4711';
const args = { summary: SECRET };

describe('J16 what is kept of calls that are over', () => {
  const { start } = oneJournal({ run: () => answered({ id: SECRET }) });
  let executor: Executor;
  const stored = async (): Promise<string> => {
    const rows = await executor.database.query<{ text: string }>({
      text: `select convert_from(message, 'UTF8') as text from call_request union all
             select convert_from(settlement, 'UTF8') from call_record union all
             select c::text from call c union all select o::text from operation o`,
    });
    return rows.map(({ text }) => text).join(' ');
  };
  /** Some time later, as the database sees it. */
  const later = () => executor.database.change({ text: `update call set settled_at = settled_at - interval '1 hour'` });
  const soon = { COUNTERSIGN_PAYLOAD_RETENTION_MS: '60000' };

  it('arguments and results go; the key stays known: a repeat is answered without the result, other arguments are a conflict (G7)', async () => {
    executor = await start();
    const first = grant({ args });
    const read = grant({ of: tool({ layer: 'read', sideEffects: 'none', idempotency: { mode: 'natural' } }), args });
    await executor.deliverGrants(first, read);
    await executor.settlement(first.callId!);
    await executor.settlement(read.callId!);
    expect(await stored()).toContain(SECRET);
    await executor.close();

    executor = await start({ env: soon });
    await walked();
    expect(await stored()).toContain(SECRET);
    await later();
    await walked();
    expect(await stored()).not.toContain(SECRET);

    const repeat = grant({ args, operationKey: first.data.operationKey });
    const other = grant({ args: { summary: 'else' }, operationKey: first.data.operationKey });
    await executor.deliverGrants(repeat, other, first);
    expect(await executor.settlement(repeat.callId!)).toMatchObject({
      status: 'succeeded',
      effect: 'applied',
      replayed: true,
      result: { sanitized: null, fault: { code: 'RESULT_EXPIRED' } },
    });
    expect(await executor.settlement(other.callId!)).toMatchObject({ error: { code: 'IDEMPOTENCY_CONFLICT' } });
    // The same grant once more: the record as it is now, and no second attempt.
    expect(await executor.settlement(first.callId!)).toMatchObject({
      status: 'succeeded',
      result: { sanitized: null },
    });
    expect(executor.attempts).toEqual([]);
  });

  it('what was ever unknown stays whole, so that it can be found out and undone', async () => {
    executor = await start({ env: soon, run: () => failed('maybe_sent', false) });
    const unknown = grant({ args, of: tool({ idempotency: { mode: 'none' }, noUndoReason: 'none' }) });
    await executor.deliverGrants(unknown);
    expect(await executor.settlement(unknown.callId!)).toMatchObject({ status: 'outcome_unknown' });
    await later();
    await walked();
    expect(await stored()).toContain(SECRET);
  });

  it('several replicas walk at once: each record is shrunk once', async () => {
    executor = await start({ env: soon });
    const many = Array.from({ length: 20 }, () => grant({ args }));
    await executor.deliverGrants(...many);
    for (const { callId } of many) await executor.settlement(callId!);
    await later();
    await Promise.all(Array.from({ length: 4 }, walked));
    const [row] = await executor.database.query<{ whole: number; left: number }>({
      text: `select (select count(*) from call_result)::int as whole, (select count(*) from call_summary)::int as left`,
    });
    expect(row).toEqual({ whole: 0, left: 20 });
  });

  /** What the worker does at its pace. */
  async function walked(): Promise<void> {
    const journal = new JournalRepository(executor.database, undefined as never, 'walker');
    const log = { info: () => undefined, warn: (fields: object) => void faults.push(fields) } as never;
    const faults: object[] = [];
    await retention({ journal, log, pool: 'default', keepMs: 60_000 }).now();
    expect(faults).toEqual([]);
  }

  it('the worker walks by itself', async () => {
    executor = await start({ env: { COUNTERSIGN_PAYLOAD_RETENTION_MS: '1000' } });
    const call = grant({ args });
    await executor.deliverGrants(call);
    await executor.settlement(call.callId!);
    await until(async () => !(await stored()).includes(SECRET));
    expect(await stored()).toContain(call.callId!);
  });

  it('shrinking again changes nothing, and what is left is a valid record', async () => {
    executor = await start();
    const call = grant({ args });
    await executor.deliverGrants(call);
    await executor.settlement(call.callId!);
    const [row] = await executor.database.query<{ text: string }>({
      text: `select convert_from(settlement, 'UTF8') as text from call_result`,
    });
    const once = shrinkRecord(row!.text);
    expect(shrinkRecord(once)).toBe(once);
    expect(callSettledSchema.safeParse((JSON.parse(once) as { data: unknown }).data).success).toBe(true);
  });
});
