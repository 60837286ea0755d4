import { Database, Outbox } from '#persistence';
import { freshDatabase, type FreshDatabase } from '../../../persistence/testing/fresh-database.ts';
import type { DeadLetter } from '../bus.port.ts';
import { BUS_SCHEMA, PostgresDeadLetters } from './postgres-dead-letters.ts';

describe('dead letters in PostgreSQL (B4)', () => {
  let fresh: FreshDatabase;
  let database: Database;
  beforeAll(async () => {
    fresh = await freshDatabase();
    database = new Database({ url: fresh.url, schema: BUS_SCHEMA });
  });
  afterAll(async () => {
    await database.close();
    await fresh.drop();
  });

  it('keep raw key, value and headers, origin and cause; the migration may run twice', async () => {
    const store = new PostgresDeadLetters(database);
    await store.migrate();
    await store.migrate();
    const letter: DeadLetter = {
      group: 'policy',
      topic: 'call.proposed',
      partition: 3,
      offset: '9007199254740993',
      key: Buffer.from([0xff, 0xfe, 0x00]),
      value: Buffer.from([0x7b, 0xa2, 0x81, 0x00]),
      headers: { raw: Buffer.from([0xff, 0x00]) },
      handlerAttempts: 3,
      code: 'INTERNAL',
      cause: 'Error: with a \0 in it [stack 0123456789abcdef]',
    };
    await store.put(letter);
    await store.put({ ...letter, group: 'other', key: null, value: null });
    const [found] = await store.list({ group: 'policy' });
    expect(found).toMatchObject({ ...letter, cause: 'Error: with a  in it [stack 0123456789abcdef]' });
    expect((await store.list()).map(({ group }) => group)).toEqual(['other', 'policy']);
  });

  it('a replay is marked and handed to the outbox in one commit, once, with its own bytes and key', async () => {
    const store = new PostgresDeadLetters(database);
    await store.migrate();
    const value = Buffer.from([0x7b, 0xa2, 0x81, 0x00]);
    await store.put({
      group: 'replayed',
      topic: 'call.proposed',
      partition: 0,
      offset: '7',
      key: Buffer.from('call_1'),
      value,
      headers: { origin: Buffer.from('here') },
      handlerAttempts: 1,
      code: 'INTERNAL',
      cause: 'Error: no',
    });
    const [{ id }] = (await store.list({ group: 'replayed', topic: 'call.proposed', open: true })) as unknown as [
      { id: string },
    ];
    const answers = await Promise.all([store.replay(id), store.replay(id)]);
    expect(answers.sort()).toEqual([false, true]);
    expect((await store.find(id))?.replayedAt).toEqual(expect.any(String));
    expect(await store.list({ group: 'replayed', open: true })).toEqual([]);
    const sent: unknown[] = [];
    const outbox = new Outbox({
      database,
      publish: (messages) => Promise.resolve(void sent.push(...messages)),
      onError: (error) => {
        throw error;
      },
    });
    await outbox.sweep();
    await outbox.drain();
    expect(sent).toEqual([{ topic: 'call.proposed', key: 'call_1', value, headers: { origin: 'here' } }]);
    expect(await store.find('no-number')).toBeNull();
  });
});
