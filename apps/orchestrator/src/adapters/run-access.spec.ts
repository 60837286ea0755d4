import { Database, migrate, readMigrations, type Sql } from '#persistence';
import { freshDatabase, type FreshDatabase } from '../../../../libs/persistence/testing/fresh-database.ts';
import { Scene } from '../../testing/scene.ts';
import { claimDueRuns } from './claim-due-runs.query.ts';
import { loadRuns } from './load-runs.query.ts';
import { updateRuns } from './update-runs.query.ts';

/** Rows of a table that were read by scanning it whole. */
const SCANNED = `select coalesce(sum(seq_tup_read), 0)::int n from pg_stat_xact_user_tables where relname = 'run'`;

describe('access to runs', () => {
  let fresh: FreshDatabase;
  let database: Database;
  beforeAll(async () => {
    fresh = await freshDatabase();
    database = new Database({ url: fresh.url, schema: 'orchestrator', max: 1 });
    await migrate(database, readMigrations(new URL('../migrations/', import.meta.url)));
  });
  afterAll(async () => {
    await database.close();
    await fresh.drop();
  });

  it('keeps its index plans from the empty table to the large one', async () => {
    const scanned = async (sql: Sql) => (await sql.query<{ n: number }>({ text: SCANNED }))[0]!.n;
    const use = (id: string) =>
      database.transaction(async (tx) => {
        const before = await scanned(tx);
        const runs = await loadRuns(tx, [id]);
        await updateRuns(tx, [...runs.values()]);
        await claimDueRuns(tx, 100);
        return (await scanned(tx)) - before;
      });
    const scene = new Scene();
    scene.start('client');
    const { definition, state } = scene.run!;
    const fill = (from: number, to: number) =>
      database.query({
        text: `insert into run select 'r' || i, 'dev', i, 'client', 'running', $1::json, $2::json, 1, null from generate_series($3::int, $4::int) i`,
        values: [JSON.stringify({ ...definition, runId: 'r1' }), JSON.stringify(state), from, to],
      });
    await fill(1, 1);
    for (let i = 0; i < 10; i++) await use('r1');
    await fill(2, 20_000);
    expect(await use('r1')).toBe(0);
    const rows = await database.query({
      text: `select version, wake_at is null as asleep from run where run_id = 'r1'`,
    });
    expect(rows).toEqual([{ version: 12, asleep: false }]);
  });
});
