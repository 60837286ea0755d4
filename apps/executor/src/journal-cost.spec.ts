import { grant, openExecutor, tool, type Executor } from '../testing/executor-rig.ts';

/** Statements are stable where times are not: this guards the cost of a call (performance.md). */
describe('the cost of a governed write at the executor', () => {
  let executor: Executor;
  let statements: string[] = [];
  beforeAll(async () => {
    executor = await openExecutor({ workers: false, env: { COUNTERSIGN_LEASE_MS: '15000' } });
    const { database } = executor;
    const counted = database as unknown as Record<'query' | 'change' | 'transaction', unknown>;
    for (const method of ['query', 'change', 'transaction'] as const) {
      const original = database[method].bind(database) as (first: { name?: string }, ...rest: unknown[]) => unknown;
      counted[method] = (first: { name?: string }, ...rest: unknown[]) => {
        statements.push(first.name ?? method);
        return original(first, ...rest);
      };
    }
  });
  afterAll(() => executor.close());
  beforeEach(() => {
    statements = [];
  });

  it('a lone write takes two statements, each its own commit, and one asynchronous acknowledgement', async () => {
    const granted = grant();
    await executor.deliverGrants(granted);
    await executor.settlement(granted.callId!);
    await executor.settle();
    expect(statements).toEqual(['journal-intend', 'journal-settle', 'delete-acknowledged']);
  });

  it('64 writes take one intent statement and a few merged outcomes', async () => {
    const of = tool();
    const granted = Array.from({ length: 64 }, () => grant({ of }));
    await executor.deliverGrants(...granted);
    await Promise.all(granted.map((g) => executor.settlement(g.callId!)));
    await executor.settle();
    expect(statements.filter((name) => name === 'journal-intend')).toHaveLength(1);
    expect(statements.filter((name) => name === 'journal-settle').length).toBeLessThanOrEqual(3);
    expect(statements.length).toBeLessThanOrEqual(7);
  });

  it('a read takes a look and one commit', async () => {
    const of = tool({ name: 'read_ticket', layer: 'read', sideEffects: 'none', idempotency: { mode: 'natural' } });
    const granted = grant({ of });
    await executor.deliverGrants(granted);
    await executor.settlement(granted.callId!);
    await executor.settle();
    expect(statements).toEqual(['look-up-calls', 'journal-settle', 'delete-acknowledged']);
  });

  it('the statements keep their index plans on a table that was never analyzed', async () => {
    const { database } = executor;
    await database.query({
      text: `insert into call (call_id, tenant, pool, state, decision_no, grant_digest, tool, class, key_hash, args_digest, repeat, lease_ms)
             select 'x' || n, 'dev', 'default', 'succeeded', 1, 'g', 't', 'call', 'k', 'a', 'none', 1 from generate_series(1, 20000) n`,
    });
    const scans = async (): Promise<number> =>
      (
        await database.query<{ n: number }>({
          text: `select coalesce(sum(seq_scan), 0)::int n from pg_stat_user_tables where relname in ('call', 'operation', 'grant_use', 'call_result', 'resource_hold')`,
        })
      )[0]!.n;
    const before = await scans();
    const of = tool({ concurrency: 'per_resource', resources: ['ticket:{id}'] });
    const granted = Array.from({ length: 8 }, (_, n) => grant({ of, resources: [`ticket:${n}`] }));
    await executor.deliverGrants(...granted);
    await Promise.all(granted.map((g) => executor.settlement(g.callId!)));
    await executor.deliverGrants(...granted);
    expect(await scans()).toBe(before);
  });
});
