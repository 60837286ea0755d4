import fc from 'fast-check';
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
    expect(await rows()).toBe(1);
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

  it('messages of any size and kind come back as they were, in one row (property)', async () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
    const arbitrary = fc.record(
      {
        topic: text,
        key: text,
        partitionKey: text,
        value: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
        headers: fc.record({ first: text, second: text }, { requiredKeys: ['first'] }),
      },
      { requiredKeys: ['topic', 'key', 'value'] },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(arbitrary, { maxLength: 8 }), async (messages) => {
        await database.change({ text: 'delete from outgoing' });
        const seen: OutgoingMessage[] = [];
        const outbox = new Outbox({
          database,
          onError: (e) => {
            throw e;
          },
          publish: async (m) => void seen.push(...m),
        });
        await database.transaction((tx) => outbox.append(tx, messages as OutgoingMessage[]));
        await outbox.sweep({ all: true });
        await outbox.drain();
        expect(seen).toEqual(messages);
      }),
      { numRuns: 50 },
    );
  });

  it('large messages take as many rows as they need', async () => {
    const large = ['a', 'b', 'c', 'd'].map((key, i) => ({ topic: 't', key, value: Buffer.alloc(400_000, i) }));
    const sizes: string[] = [];
    const outbox = new Outbox({
      database,
      onError: (e) => {
        throw e;
      },
      publish: async (m) => void sizes.push(...m.map((x) => `${x.key}${x.value.length}${x.value[9]}`)),
    });
    const { ids } = await database.transaction((tx) => outbox.append(tx, large));
    expect(ids).toHaveLength(2);
    await outbox.sweep({ all: true });
    await outbox.drain();
    expect(sizes.sort()).toEqual(['a4000000', 'b4000001', 'c4000002', 'd4000003']);
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
