import { CountersignError } from '#kernel';
import { Database, migrate } from '#persistence';
import { freshDatabase, type FreshDatabase } from '../../testing/fresh-database.ts';

describe('migrations', () => {
  let fresh: FreshDatabase;
  let database: Database;
  beforeAll(async () => {
    fresh = await freshDatabase();
    database = new Database({ url: fresh.url, schema: 'probe' });
  });
  afterAll(async () => {
    await database.close();
    await fresh.drop();
  });
  const first = { name: '0001-a.sql', sql: 'create table a (id int)' };
  const second = { name: '0002-b.sql', sql: 'create table b (id int)' };

  it('are applied once, by however many replicas start at once, and later ones on top', async () => {
    await Promise.all([migrate(database, [first]), migrate(database, [first])]);
    await migrate(database, [first, second]);
    expect(await database.query({ text: `select name from migration where name like '000%' order by name` })).toEqual([
      { name: first.name },
      { name: second.name },
    ]);
  });

  it('one that was changed, and a schema of a newer version, stop the start with what to do', async () => {
    const changed = migrate(database, [{ ...first, sql: 'create table a (id bigint)' }, second]);
    await expect(changed).rejects.toThrow(/0001-a\.sql differs.*COUNTERSIGN_DATA_DIR/);
    await expect(changed).rejects.toBeInstanceOf(CountersignError);
    await expect(migrate(database, [first])).rejects.toThrow(/newer version \(it holds 0002-b\.sql\)/);
  });

  it('one that fails leaves nothing of itself', async () => {
    await expect(
      migrate(database, [first, second, { name: '0003-c.sql', sql: 'create table c (id int); select nonsense' }]),
    ).rejects.toThrow();
    expect(await database.query({ text: `select to_regclass('probe.c') c` })).toEqual([{ c: null }]);
  });
});
