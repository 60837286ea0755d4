import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { grantedTopic, type Message } from '#contracts';
import { freshDatabase, type FreshDatabase } from '../../../libs/persistence/testing/fresh-database.ts';
import { grant, openExecutor, POOL, tool, until, type Executor, type GrantOptions } from '../testing/executor-rig.ts';

const JOURNAL = ['journal', 'call', 'operation', 'grant_use', 'resource_hold', 'call_request', 'call_result'];
const TABLES = [...JOURNAL, 'reconciliation', 'reconciliation_evidence'];

/** R1 – R3 (migrations/0005-journal-roles.sql): a pool that a team hosts is trusted for its own tools only. */
describe('G12 the database role of a pool', () => {
  const pool = `p${randomBytes(4).toString('hex')}`;
  const role = `countersign_pool_${pool}`;
  let fresh: FreshDatabase;
  let owner: Executor;
  let own: Executor;
  let session: pg.Client;
  const granted = (options: GrantOptions = {}): Message<'CallGranted'> =>
    grant({ ...options, claims: { aud: pool, ...options.claims }, data: { pool, ...options.data } });
  const deliver = (...messages: Message[]) => own.deliver(grantedTopic(pool), ...messages);

  beforeAll(async () => {
    fresh = await freshDatabase();
    owner = await openExecutor({ url: fresh.url });
    await owner.database.query({ text: `create role ${role} login password 'secret'` });
    await owner.database.query({ text: `select admit_pool_role('${role}')` });
    const url = new URL(fresh.url);
    url.username = role;
    url.password = 'secret';
    own = await openExecutor({ url: url.href, env: { COUNTERSIGN_POOL: pool, COUNTERSIGN_RECONCILE_MS: '20' } });
    session = new pg.Client({ connectionString: url.href, options: '-c search_path=executor' });
    await session.connect();
  });
  afterAll(async () => {
    await session.end();
    await own.close();
    await owner.close();
    await fresh.drop();
    const admin = new pg.Client(process.env.TEST_DATABASE_URL);
    await admin.connect();
    await admin.query(`drop role ${role}`);
    await admin.end();
  });

  it('an executor works under it: writes, reads, repeats, waits, cancels, unknown outcomes and its messages', async () => {
    const serial = tool({ concurrency: 'per_resource', resources: ['ticket:{id}'] });
    const write = granted({ of: serial, resources: ['ticket:1'] });
    const next = granted({ of: serial, resources: ['ticket:1'] });
    const read = granted({ of: tool({ layer: 'read', sideEffects: 'none', idempotency: { mode: 'natural' } }) });
    await deliver(write, next, read);
    for (const { callId } of [write, next, read])
      expect(await own.settlement(callId!)).toMatchObject({ status: 'succeeded' });
    const repeat = granted({ of: serial, operationKey: write.data.operationKey, resources: ['ticket:1'] });
    await deliver(repeat, write);
    expect(await own.settlement(repeat.callId!)).toMatchObject({ replayed: true });
    await until(() => own.settlements(write.callId!).length === 2);
    const stale = granted({
      claims: { iat: Math.floor(Date.now() / 1000) - 60, exp: Math.floor(Date.now() / 1000) - 10 },
    });
    await deliver(stale);
    await until(() => own.messagesOf('GrantReturned').find(({ callId }) => callId === stale.callId));
    await own.settle();
    expect(await owner.database.query({ text: 'select from outgoing' })).toEqual([]);
  });

  it('what a dead executor of the pool left is taken over, and an unknown outcome is found out', async () => {
    const of = tool({ name: 'send_parcel', idempotency: { mode: 'none' }, reconcile: { final: true } });
    const lost = granted({ of });
    await owner.database.change({ text: 'update journal set epoch = 2' });
    await deliver(lost);
    expect(await own.settlement(lost.callId!)).toMatchObject({ status: 'outcome_unknown' });
    await until(() => own.probes.length > 0);
    await owner.database.change({ text: 'update journal set epoch = 1' });
    const dead = granted();
    await deliver(dead);
    await own.settlement(dead.callId!);
    await owner.database.change({
      text: `update call set state = 'intended', settled_at = null, lease_owner = 'dead', lease_until = now() where call_id = $1`,
      values: [dead.callId],
    });
    await owner.database.change({ text: 'delete from call_result where call_id = $1', values: [dead.callId] });
    await until(() => own.settlements(dead.callId!).length === 2);
  });

  it.each(TABLES)('reads and changes nothing of the table %s', async (table) => {
    for (const sql of [`select from ${table}`, `delete from ${table}`, `insert into ${table} default values`])
      await expect(session.query(sql)).rejects.toMatchObject({ code: '42501' });
  });

  it('touches no call of another pool, whatever it hands to the functions', async () => {
    const foreign = grant({ of: tool({ idempotency: { mode: 'none' } }) });
    await owner.deliverGrants(foreign);
    await owner.settlement(foreign.callId!);
    const id = foreign.callId!;
    const denied: [string, unknown[]][] = [
      ['select journal_sweep($1, $2, 10)', [POOL, 'me']],
      ['select journal_cancel($1, $2, $3, $4)', [POOL, [id], ['dev'], [true]]],
      ['select journal_claim_looks($1, 10, 10)', [POOL]],
      ['select journal_count_unknowns($1)', [POOL]],
    ];
    for (const [sql, values] of denied)
      await expect(session.query(sql, values)).rejects.toMatchObject({ code: '42501' });
    await owner.database.change({
      text: `update call set state = 'queued', settled_at = null, lease_owner = 'them', lease_until = now() + interval '1 hour' where call_id = $1`,
      values: [id],
    });
    const state = () => owner.database.query({ text: 'select * from call where call_id = $1', values: [id] });
    const before = await state();
    const [{ lease_epoch: epoch }] = before as [{ lease_epoch: number }];
    const look = await session.query('select * from journal_look_up($1, $2, $3)', [[id], [null], [null]]);
    expect(look.rows).toMatchObject([{ state: null, settlement: null }]);
    expect((await session.query('select * from journal_renew($1, $2, $3)', ['them', [id], [epoch]])).rows).toEqual([]);
    await session.query('select journal_give_up($1, $2, $3)', ['them', [id], [epoch]]);
    expect((await session.query('select journal_return($1, $2, $3) r', ['them', id, epoch])).rows).toEqual([
      { r: false },
    ]);
    expect((await session.query('select * from journal_lock_findings(null, $1, false)', [id])).rows).toEqual([]);
    expect(await state()).toEqual(before);
  });

  it('sends no message in the name of another pool, and sees none', async () => {
    const insert = (topic: string) =>
      session.query(
        `insert into outgoing (topics, keys, partition_keys, lengths, body) values ($1, '{k}', '{""}', '{1}', 'x') returning id`,
        [[topic]],
      );
    await expect(insert('call.settled.default')).rejects.toMatchObject({ code: '42501' });
    await expect(insert('run.commands')).rejects.toMatchObject({ code: '42501' });
    await owner.database.transaction(async (tx) => {
      await tx.query({
        text: `insert into outgoing (topics, keys, partition_keys, lengths, body, next_at)
               values ('{call.settled.default}', '{k}', '{""}', '{1}', 'x', now() + interval '1 hour')`,
      });
    });
    expect((await session.query('select from outgoing')).rows).toEqual([]);
    await owner.database.change({ text: 'delete from outgoing' });
  });

  it('another role has no way in, and only roles named for a pool are admitted', async () => {
    await expect(owner.database.query({ text: `select admit_pool_role('pg_monitor')` })).rejects.toThrow(
      /countersign_pool_/,
    );
    const open = await owner.database.query({
      text: `select p.proname from pg_proc p where p.pronamespace = 'executor'::regnamespace
                and has_function_privilege('public', p.oid, 'execute')`,
    });
    expect(open).toEqual([]);
    const loose = await owner.database.query({
      text: `select p.proname from pg_proc p where p.pronamespace = 'executor'::regnamespace and p.proname like 'journal%'
                and not (p.prosecdef and 'search_path=executor, pg_temp' = any (p.proconfig))`,
    });
    expect(loose).toEqual([]);
  });
});
