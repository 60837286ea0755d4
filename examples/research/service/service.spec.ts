import pg from 'pg';
import { freshDatabase, type FreshDatabase } from '../../../libs/persistence/testing/fresh-database.ts';
import type { JsonService } from '../../json-service.ts';
import { passagesOf } from './read-documents.ts';
import { start } from './start.ts';
import { termsOf } from './terms.ts';

interface Hit {
  readonly source: string;
  readonly title: string;
  readonly position: { readonly from_line: number; readonly to_line: number };
  readonly text: string;
}
interface Body {
  readonly hits?: Hit[];
  readonly draft_id?: string;
  readonly revision?: number;
  readonly drafts?: { draft_id: string; revision: number; content: string; idempotency_key: string | null }[];
  readonly error?: { code: string; message: string };
}

describe('the library of the research example', () => {
  let database: FreshDatabase;
  let service: JsonService;
  beforeAll(async () => {
    database = await freshDatabase();
    service = await start({ port: 0, databaseUrl: database.url });
  });
  afterAll(async () => {
    await service.close();
    await database.drop();
  });

  const answerOf = async (response: Response) => ({
    status: response.status,
    body: (await response.json()) as Body,
  });
  const get = async (route: string) => answerOf(await fetch(service.url + route));
  const post = async (body: unknown, key?: string) =>
    answerOf(
      await fetch(`${service.url}/drafts`, {
        method: 'POST',
        headers: key === undefined ? {} : { 'idempotency-key': key },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    );
  const search = async (query: string, limit?: number) =>
    (await get(`/search?${new URLSearchParams({ query, ...(limit === undefined ? {} : { limit: String(limit) }) })}`))
      .body.hits!;
  const sources = async (query: string, limit?: number) => (await search(query, limit)).map((hit) => hit.source);
  const drafts = async () => (await get('/drafts')).body.drafts!;

  it('finds English passages by stem and any word, the best first, each with its source and lines', async () => {
    const [best] = await search('street tree shading the pavement');
    expect(best).toEqual({
      source: 'street-trees.md',
      title: 'Street trees and air temperature',
      position: { from_line: expect.any(Number), to_line: expect.any(Number) },
      text: expect.stringMatching(/shade/i),
    });
    expect((await sources('WASHING of reflective roof'))[0]).toBe('reflective-roofs.md');
  });

  it.each([
    ['行道树降温', 'zh-street-trees.md'],
    ['老年人 高温', 'zh-elderly.md'],
    ['通风廊道的宽度是多少', 'zh-ventilation-corridor.md'],
    ['浅色屋顶反射率', 'zh-cool-roofs.md'],
    ['香', 'zh-street-trees.md'],
  ])('finds Chinese passages, though nothing separates their words: %s', async (query, source) => {
    expect((await sources(query))[0]).toBe(source);
  });

  it('a position leads back to the very text', async () => {
    const { readFile } = await import('node:fs/promises');
    for (const hit of [...(await search('survey shade residents', 5)), ...(await search('喷雾 街道', 5))]) {
      const file = await readFile(new URL(`../documents/${hit.source}`, import.meta.url), 'utf8');
      const { from_line, to_line } = hit.position;
      expect(
        file
          .split('\n')
          .slice(from_line - 1, to_line)
          .join('\n'),
      ).toBe(hit.text);
    }
  });

  it('gives three hits unless told otherwise, and none for words that nobody wrote', async () => {
    expect(await search('street')).toHaveLength(3);
    expect(await search('street', 5)).toHaveLength(5);
    expect(await search('街道', 1)).toHaveLength(1);
    expect(await search('zeppelin')).toEqual([]);
    expect(await search('of the and')).toEqual([]);
    expect(await search('!!! & | <-> :*')).toEqual([]);
  });

  it.each([
    ['/search'],
    ['/search?query=%20%E3%80%80'],
    ['/search?query=a%00b'],
    ['/search?query=a&limit=0'],
    ['/search?query=a&limit=6'],
    ['/search?query=a&limit=1.5'],
    [`/search?query=${'a'.repeat(201)}`],
  ])('%s is refused with a reason', async (route) => {
    expect(await get(route)).toMatchObject({ status: 400, body: { error: { message: expect.any(String) } } });
  });

  it('the same key and draft give the same revision, also after a restart and at once; other content changes nothing', async () => {
    const draft = { draft_id: 'kept', content: '树荫 text' };
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(draft, 'k1')));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(await post({ ...draft, content: 'other' }, 'k1')).toMatchObject({
      status: 409,
      body: { error: { code: 'key_conflict' } },
    });
    await service.close();
    service = await start({ port: 0, databaseUrl: database.url });
    expect(await post(draft, 'k1')).toEqual({ status: 200, body: answers[0]!.body });
    expect((await drafts()).filter((one) => one.draft_id === 'kept')).toEqual([
      { ...draft, revision: 1, saved_at: expect.any(String), idempotency_key: 'k1' },
    ]);
  });

  it('another key makes the next revision, and the earlier one stays', async () => {
    const made = await Promise.all(['a', 'b', 'c'].map((key) => post({ draft_id: 'again', content: key }, key)));
    expect(made.map(({ body }) => body.revision).sort()).toEqual([1, 2, 3]);
    expect((await drafts()).filter((one) => one.draft_id === 'again')).toHaveLength(3);
  });

  it.each([
    ['no JSON', '{'],
    ['a list', []],
    ['no content', { draft_id: 'x' }],
    ['a blank content', { draft_id: 'x', content: ' ' }],
    ['an unknown field', { draft_id: 'x', content: 'c', extra: 1 }],
    ['a content that is too long', { draft_id: 'x', content: 'x'.repeat(20_001) }],
  ])('%s is refused, and nothing is saved', async (_what, body) => {
    const before = await drafts();
    expect(await post(body, 'refused')).toMatchObject({
      status: 400,
      body: { error: { message: expect.any(String) } },
    });
    expect(await drafts()).toEqual(before);
  });

  it('a database that does not answer is told with the setting that names it', async () => {
    await expect(start({ port: 0, databaseUrl: 'postgresql://postgres@127.0.0.1:1/none' })).rejects.toThrow(
      /ECONNREFUSED.*RESEARCH_DATABASE_URL/,
    );
  });

  it('keeps to a schema of its own', async () => {
    const client = new pg.Client(database.url);
    await client.connect();
    try {
      const { rows } = await client.query(
        `select distinct schemaname from pg_tables where schemaname !~ '^(pg_|information_schema)'`,
      );
      expect(rows).toEqual([{ schemaname: 'research_library' }]);
    } finally {
      await client.end();
    }
  });
});

describe('what is indexed', () => {
  it('Chinese as overlapping pairs, other words as they are, in one form', () => {
    expect(termsOf('行道树 Ｓhade 2', false)).toEqual({ words: ['shade', '2'], exact: ['行道', '道树'] });
    expect(termsOf('树', false).exact).toEqual(['树']);
    expect(termsOf('行道', true).exact).toEqual(['行道', '行', '道']);
  });
  it('paragraphs with their lines; headings are no passages', () => {
    expect(
      passagesOf('a.md', '# T\n\none\ntwo\n\n## H\nthree').map((p) => [p.title, p.fromLine, p.toLine, p.text]),
    ).toEqual([
      ['T', 3, 4, 'one\ntwo'],
      ['T', 7, 7, 'three'],
    ]);
  });
});
