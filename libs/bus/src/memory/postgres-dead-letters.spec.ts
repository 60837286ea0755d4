import { Database } from '#persistence';
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
});
