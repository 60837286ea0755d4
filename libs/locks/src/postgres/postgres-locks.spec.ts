import { createLocks } from '#locks';
import { Database } from '#persistence';
import { freshDatabase, type FreshDatabase } from '../../../persistence/testing/fresh-database.ts';
import { lockContract } from '../../testing/lock-contract.ts';

let fresh: FreshDatabase;
const databases: Database[] = [];
const database = (): Database => {
  const opened = new Database({ url: fresh.url, schema: 'locks', max: 2 });
  databases.push(opened);
  return opened;
};
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(async () => {
  await Promise.all(databases.map((d) => d.close()));
  await fresh.drop();
});

lockContract('PostgreSQL', () => ({ open: () => createLocks({ kind: 'postgres', database: database() }) }));

describe('locks on PostgreSQL', () => {
  it('L5 a holder whose row is gone is told', async () => {
    const own = database();
    const port = await createLocks({ kind: 'postgres', database: own });
    const answer = await port.acquire({ resources: ['dev/x'], owner: 'me', waitMs: 0, ttlMs: 90 });
    if (answer.kind !== 'held') throw new Error(answer.kind);
    await own.change({ text: 'delete from resource_lock' });
    await new Promise((resolve) => answer.handle.lost.addEventListener('abort', resolve, { once: true }));
    expect(answer.handle.lost.aborted).toBe(true);
    await answer.handle.release();
    await port.close();
  });

  it('64 acquires of one moment take at most two statements, and 64 releases too', async () => {
    const own = database();
    const port = await createLocks({ kind: 'postgres', database: own });
    let statements = 0;
    const counted = own as unknown as { query: unknown; change: unknown };
    for (const method of ['query', 'change'] as const) {
      const original = own[method].bind(own) as (s: never) => Promise<never>;
      counted[method] = (statement: never) => {
        statements++;
        return original(statement);
      };
    }
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, n) =>
        port.acquire({ resources: [`dev/t:${n}`], owner: `o${n}`, waitMs: 0, ttlMs: 30_000 }),
      ),
    );
    expect(statements).toBeLessThanOrEqual(2);
    await Promise.all(
      answers.map((answer) =>
        answer.kind === 'held' ? answer.handle.release() : Promise.reject(new Error(answer.kind)),
      ),
    );
    expect(statements).toBeLessThanOrEqual(4);
    await port.close();
  });

  it('L6 a database that is away answers `unavailable`', async () => {
    const other = await freshDatabase();
    const gone = new Database({ url: other.url, schema: 'locks', max: 1 });
    const port = await createLocks({ kind: 'postgres', database: gone });
    await other.drop();
    expect((await port.acquire({ resources: ['dev/x'], owner: 'me', waitMs: 5000, ttlMs: 1000 })).kind).toBe(
      'unavailable',
    );
    expect(port.healthy()).toBe(false);
    await gone.close();
  });
});
