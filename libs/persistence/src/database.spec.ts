import { InfrastructureError } from '#kernel';
import { Database, isUniqueViolation } from '#persistence';
import { freshDatabase, type FreshDatabase } from '../testing/fresh-database.ts';

describe('the database', () => {
  let fresh: FreshDatabase;
  let database: Database;
  beforeAll(async () => {
    fresh = await freshDatabase();
    database = new Database({ url: fresh.url, schema: 'probe' });
    await database.change({ text: 'create schema probe' });
    await database.change({ text: 'create table item (id int primary key)' });
  });
  afterAll(async () => {
    await database.close();
    await fresh.drop();
  });
  beforeEach(() => database.change({ text: 'delete from item' }));
  const count = async (): Promise<number> =>
    (await database.query<{ n: number }>({ text: 'select count(*)::int n from item' }))[0]!.n;
  const insert = (id: number) => ({ name: 'insert', text: 'insert into item (id) values ($1)', values: [id] });

  it('commits all or nothing', async () => {
    await database.transaction(async (tx) => {
      await Promise.all([tx.change(insert(1)), tx.change(insert(2))]);
    });
    expect(await count()).toBe(2);
    await expect(
      database.transaction(async (tx) => {
        await tx.change(insert(3));
        await tx.change(insert(1));
      }),
    ).rejects.toMatchObject({ code: '23505' });
    expect(await count()).toBe(2);
  });

  it('a statement that failed unseen makes the transaction fail, not commit', async () => {
    await expect(
      database.transaction(async (tx) => {
        await tx.change(insert(5));
        await tx.change(insert(5)).catch(() => undefined);
      }),
    ).rejects.toThrow(/ROLLBACK/);
    expect(await count()).toBe(0);
  });

  it('the last statements and the commit go together: all or nothing, and nothing after them', async () => {
    const both = await database.transaction((tx) =>
      tx.last(() => Promise.all([tx.change(insert(1)), tx.change(insert(2))])),
    );
    expect(both).toEqual([1, 1]);
    const taken = await database
      .transaction((tx) => tx.last(() => Promise.all([tx.change(insert(3)), tx.change(insert(1))])))
      .catch((error: unknown) => error);
    expect(isUniqueViolation(taken)).toBe(true);
    const late = database.transaction(async (tx) => {
      await tx.last(() => tx.change(insert(4)));
      await tx.change(insert(5));
    });
    await expect(late).rejects.toThrow(/commit of this transaction was sent/);
    expect(await count()).toBe(3);
  });

  it('a plan that was made for an empty table reads the full one by its key', async () => {
    const one = new Database({ url: fresh.url, schema: 'probe', max: 1 });
    await one.change({ text: 'create table filled (id int primary key, n char(1500) not null)' });
    const find = {
      name: 'find',
      text: 'select f.n from filled f join unnest($1::int[]) u (id) using (id)',
      values: [Array.from({ length: 100 }, (_, i) => i + 1)],
    };
    for (let i = 0; i < 10; i++) await one.query(find);
    await one.change({ text: 'insert into filled select i, i from generate_series(1, 3000) i' });
    const scanned = await one.transaction(async (tx) => {
      expect(await tx.query(find)).toHaveLength(100);
      const [row] = await tx.query<{ n: number }>({
        text: "select coalesce(sum(seq_tup_read), 0)::int n from pg_stat_xact_user_tables where relname = 'filled'",
      });
      return row!.n;
    });
    expect(scanned).toBe(0);
    await one.close();
  });

  it('a connection that is cut in mid-transaction is an infrastructure fault, and the next transaction works', async () => {
    await expect(
      database.transaction(async (tx) => {
        await tx.change(insert(7));
        const [{ pid }] = (await tx.query<{ pid: number }>({ text: 'select pg_backend_pid() pid' })) as [
          { pid: number },
        ];
        await database.query({ text: 'select pg_terminate_backend($1)', values: [pid] });
        await tx.change(insert(8));
      }),
    ).rejects.toBeInstanceOf(InfrastructureError);
    await database.transaction((tx) => tx.change(insert(9)));
    expect(await count()).toBe(1);
  });

  it('an address where nothing answers is an infrastructure fault', async () => {
    const nowhere = new Database({ url: 'postgres://x@127.0.0.1:1/x', schema: 'probe' });
    await expect(nowhere.query({ text: 'select 1' })).rejects.toBeInstanceOf(InfrastructureError);
    await nowhere.close();
  });

  it('concurrent users of one named statement on one connection do not collide', async () => {
    const single = new Database({ url: fresh.url, schema: 'probe', max: 1 });
    await Promise.all(Array.from({ length: 20 }, (_, id) => single.change(insert(id))));
    await single.close();
    expect(await count()).toBe(20);
  });
});
