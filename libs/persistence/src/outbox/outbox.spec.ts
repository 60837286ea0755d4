import type { OutgoingMessage } from '#contracts';
import { Database, migrate, Outbox } from '#persistence';
import { freshDatabase, type FreshDatabase } from '../../testing/fresh-database.ts';

describe('the outbox (G4)', () => {
  let fresh: FreshDatabase;
  let database: Database;
  beforeAll(async () => {
    fresh = await freshDatabase();
    database = new Database({ url: fresh.url, schema: 'probe' });
    await migrate(database, []);
  });
  afterAll(async () => {
    await database.close();
    await fresh.drop();
  });
  beforeEach(() => database.change({ text: 'delete from outgoing' }));

  const sample = (key: string): OutgoingMessage => ({
    topic: 't',
    key,
    partitionKey: 'p',
    value: Buffer.from(key),
    headers: { h: key },
  });
  const rows = async (): Promise<number> =>
    (await database.query<{ n: number }>({ text: 'select count(*)::int n from outgoing' }))[0]!.n;

  it('a message stands in the table until the bus acknowledged it, then it goes', async () => {
    let release!: () => void;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const seen: OutgoingMessage[] = [];
    const outbox = new Outbox({
      database,
      onError: (e) => {
        throw e;
      },
      publish: async (m) => {
        seen.push(...m);
        await gate;
      },
    });
    outbox.emit(await database.transaction((tx) => outbox.append(tx, [sample('a'), sample('b')])));
    expect(await rows()).toBe(2);
    release();
    await outbox.drain();
    expect(await rows()).toBe(0);
    expect(seen.map((m) => m.key)).toEqual(['a', 'b']);
  });

  it('a message that was committed but never published is sent by the sweeper of a later process, byte for byte', async () => {
    const dead = new Outbox({
      database,
      onError: () => undefined,
      publish: () => Promise.reject(new Error('broker away')),
    });
    dead.emit(await database.transaction((tx) => dead.append(tx, [sample('lost')])));
    await dead.drain();
    await database.change({ text: `update outgoing set next_at = now()` });
    const seen: OutgoingMessage[] = [];
    const next = new Outbox({
      database,
      onError: (e) => {
        throw e;
      },
      publish: async (m) => void seen.push(...m),
    });
    await next.sweep();
    await next.drain();
    expect(seen).toEqual([sample('lost')]);
    expect(await rows()).toBe(0);
  });

  it('the sweeper leaves alone what this process is still publishing', async () => {
    const gate = Promise.withResolvers<void>();
    let publishes = 0;
    const outbox = new Outbox({ database, onError: () => undefined, publish: () => (publishes++, gate.promise) });
    outbox.emit(await database.transaction((tx) => outbox.append(tx, [sample('slow')])));
    await database.change({ text: `update outgoing set next_at = now()` });
    await outbox.sweep();
    expect(publishes).toBe(1);
    gate.resolve();
    await outbox.drain();
    expect(await rows()).toBe(0);
  });

  it('a rolled back transaction sends nothing', async () => {
    const outbox = new Outbox({ database, onError: () => undefined, publish: () => Promise.resolve() });
    await expect(
      database.transaction(async (tx) => {
        await outbox.append(tx, [sample('x')]);
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(await rows()).toBe(0);
  });
});
