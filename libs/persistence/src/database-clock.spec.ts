import { freshDatabase, type FreshDatabase } from '../testing/fresh-database.ts';
import { Database } from './database.ts';
import { DatabaseClock } from './database-clock.ts';

const HOUR = 3_600_000;

describe('the database’s clock in a process (C1–C3)', () => {
  let fresh: FreshDatabase;
  let database: Database;
  beforeAll(async () => {
    fresh = await freshDatabase();
    database = new Database({ url: fresh.url, schema: 'clock' });
  });
  afterAll(async () => {
    await database.close();
    await fresh.drop();
  });
  const databaseNow = async (): Promise<number> =>
    (
      await database.query<{ now: number }>({
        text: `select (extract(epoch from clock_timestamp()) * 1000)::double precision as now`,
      })
    )[0]!.now;

  it('says what the database says, though the process’s own clock is hours off, and jumps', async () => {
    const real = Date.now;
    try {
      for (const off of [5 * HOUR, -5 * HOUR]) {
        Date.now = () => real() + off;
        const clock = await DatabaseClock.open(database);
        Date.now = () => real() - off;
        const before = await databaseNow();
        const now = clock.now();
        const after = await databaseNow();
        // Half a round trip to each side, on a machine that is busy.
        expect(now).toBeGreaterThan(before - 1_000);
        expect(now).toBeLessThan(after + 1_000);
      }
    } finally {
      Date.now = real;
    }
  });

  it('goes on by the monotonic clock, not back by what two looks differ, and with a database that was set back', async () => {
    let monotonic = 0;
    const clock = await DatabaseClock.open(database, () => monotonic);
    const first = clock.now();
    monotonic = 2_000;
    expect(clock.now() - first).toBe(2_000);
    await clock.look();
    expect(clock.now() - first).toBe(2_000);
    monotonic = HOUR;
    expect(clock.now() - first).toBeGreaterThan(HOUR - 10_000);
    await clock.look();
    expect(clock.now() - first).toBeLessThan(HOUR / 2);
  });
});
