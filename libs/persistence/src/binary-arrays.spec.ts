import fc from 'fast-check';
import { Database } from '#persistence';
import { freshDatabase, type FreshDatabase } from '../testing/fresh-database.ts';

describe('arrays as parameters', () => {
  let fresh: FreshDatabase;
  let database: Database;
  beforeAll(async () => {
    fresh = await freshDatabase();
    database = new Database({ url: fresh.url, schema: 'public' });
  });
  afterAll(async () => {
    await database.close();
    await fresh.drop();
  });

  const orNull = <T>(values: fc.Arbitrary<T>) => fc.array(fc.option(values, { nil: null }), { maxLength: 6 });
  const back = async (type: string, values: unknown[]): Promise<unknown[]> =>
    (
      await database.query<{ v: unknown }>({
        name: `back-${type}`,
        text: `select v from unnest($1::${type}[]) with ordinality as u (v, n) order by n`,
        values: [values],
      })
    ).map((row) => row.v);

  it.each([
    ['text', fc.string({ unit: 'grapheme', maxLength: 20 })],
    ['bytea', fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes))],
    ['integer', fc.integer()],
    ['bigint', fc.maxSafeInteger()],
    ['float8', fc.double({ noNaN: true })],
    ['boolean', fc.boolean()],
  ] as [string, fc.Arbitrary<unknown>][])(
    '%s[] arrive as they were, with nulls, and empty (property)',
    async (type, values) => {
      await fc.assert(
        fc.asyncProperty(orNull(values), async (list) => {
          expect(await back(type, list)).toEqual(list.map((v) => (Object.is(v, -0) && type !== 'float8' ? 0 : v)));
        }),
        { numRuns: 40 },
      );
    },
  );

  it('json[] arrive as JSON', async () => {
    const documents = [{ a: 'quo"te \\ {brace},', b: [1, null] }, null];
    expect(
      await back(
        'json',
        documents.map((d) => d && JSON.stringify(d)),
      ),
    ).toEqual(documents);
  });
});
