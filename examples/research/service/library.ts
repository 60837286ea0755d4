import { createHash } from 'node:crypto';
import pg from 'pg';
import { Refused, StartFault } from '../../json-service.ts';
import type { Passage } from './read-documents.ts';
import { termsOf } from './terms.ts';

/**
 * The library: a full-text index of passages, and drafts, in a schema of its own of a PostgreSQL that others may use, too.
 *
 * D1 a draft is answered only after its commit.
 * D2 the same key with the same draft gives the same revision, also after a restart and between concurrent requests;
 *    with other content it changes nothing.
 * D3 a draft that is saved again under another key gets the next revision; earlier ones stay.
 * D4 a search sees all documents of one reading of the folder, or those of the one before.
 */
export interface Hit {
  readonly source: string;
  readonly title: string;
  readonly position: { readonly from_line: number; readonly to_line: number };
  readonly text: string;
}
export interface Draft {
  readonly draft_id: string;
  readonly revision: number;
  readonly content: string;
  readonly saved_at: string;
}
export type KeptDraft = Draft & { readonly idempotency_key: string | null };

const TABLES = `
  create schema if not exists research_library;
  create table if not exists research_library.passages (
    source text not null,
    from_line int not null,
    to_line int not null,
    title text not null,
    body text not null,
    search tsvector not null,
    primary key (source, from_line)
  );
  create index if not exists passages_search on research_library.passages using gin (search);
  create table if not exists research_library.drafts (
    draft_id text not null,
    revision int not null,
    content text not null,
    content_digest text not null,
    idempotency_key text unique,
    saved_at timestamptz not null default now(),
    primary key (draft_id, revision)
  );`;

/** Of two that start or save at once, one waits; the first number names this library among all users of the database. */
const LOCKS = 7_203_114;

const INSERT_PASSAGES = `
  insert into research_library.passages (source, from_line, to_line, title, body, search)
  select p.source, p.from_line, p.to_line, p.title, p.body,
         setweight(to_tsvector('english', p.title_words) || to_tsvector('simple', p.title_exact), 'A')
         || to_tsvector('english', p.body_words) || to_tsvector('simple', p.body_exact)
  from jsonb_to_recordset($1::jsonb) as p (source text, from_line int, to_line int, title text, body text,
       title_words text, title_exact text, body_words text, body_exact text)`;

/** Any of the terms; best first, ties in a fixed order. Short passages are not put behind long ones (normalization 1). */
const SEARCH = `
  select source, title, from_line, to_line, body
  from research_library.passages, (select to_tsquery('english', $1) || to_tsquery('simple', $2) as terms) as asked
  where search @@ terms
  order by ts_rank(search, terms, 1) desc, source, from_line
  limit $3`;

const DRAFT_COLUMNS = 'draft_id, revision, content, idempotency_key, content_digest, saved_at';

interface DraftRow {
  readonly draft_id: string;
  readonly revision: number;
  readonly content: string;
  readonly idempotency_key: string | null;
  readonly content_digest: string;
  readonly saved_at: Date;
}

export class Library {
  readonly #pool: pg.Pool;

  private constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /**
   * Makes what is missing in the database and indexes the passages.
   * @throws StartFault when the database does not answer or forbids it
   */
  static async open(databaseUrl: string, passages: readonly Passage[]): Promise<Library> {
    const pool = new pg.Pool({ connectionString: databaseUrl, max: 4, application_name: 'research-library' });
    pool.on('error', (error) => console.error(error.message)); // an idle connection was cut; the next query opens another
    const library = new Library(pool);
    try {
      await library.#inTransaction('tables', async (client) => {
        await client.query(TABLES);
        await client.query('delete from research_library.passages');
        await client.query(INSERT_PASSAGES, [JSON.stringify(passages.map(indexed))]);
      });
    } catch (cause) {
      await pool.end();
      const { code, message } = cause as Error & { code?: string };
      throw new StartFault(
        `the database of the library cannot be used (${code ?? message}); check RESEARCH_DATABASE_URL: a PostgreSQL that runs, and an account that may create a schema`,
        { cause },
      );
    }
    return library;
  }

  /** @param limit at most so many hits, best first */
  async search(query: string, limit: number): Promise<Hit[]> {
    const { words, exact } = termsOf(query, false);
    const { rows } = await this.#pool.query<
      Record<'source' | 'title' | 'body', string> & Record<'from_line' | 'to_line', number>
    >(SEARCH, [words.join(' | '), exact.join(' | '), limit]);
    return rows.map(({ source, title, from_line, to_line, body }) => ({
      source,
      title,
      position: { from_line, to_line },
      text: body,
    }));
  }

  async drafts(): Promise<KeptDraft[]> {
    const { rows } = await this.#pool.query<DraftRow>(
      `select ${DRAFT_COLUMNS} from research_library.drafts order by saved_at, draft_id, revision`,
    );
    return rows.map((row) => ({ ...asDraft(row), idempotency_key: row.idempotency_key }));
  }

  /** @throws Refused 409 when the key was used for another draft: nothing was changed */
  async save(draftId: string, content: string, key: string | null): Promise<{ fresh: boolean; draft: Draft }> {
    const digest = createHash('sha256')
      .update(JSON.stringify([draftId, content]))
      .digest('hex');
    return this.#inTransaction('drafts', async (client) => {
      const known = await client.query<DraftRow>(
        `select ${DRAFT_COLUMNS} from research_library.drafts where idempotency_key = $1`,
        [key],
      );
      if (known.rows[0]) {
        if (known.rows[0].content_digest !== digest)
          throw new Refused(409, 'This Idempotency-Key was used for another draft', 'key_conflict');
        return { fresh: false, draft: asDraft(known.rows[0]) };
      }
      const { rows } = await client.query<DraftRow>(
        `insert into research_library.drafts (draft_id, revision, content, content_digest, idempotency_key)
         select $1, 1 + coalesce(max(revision), 0), $2, $3, $4 from research_library.drafts where draft_id = $1
         returning ${DRAFT_COLUMNS}`,
        [draftId, content, digest, key],
      );
      return { fresh: true, draft: asDraft(rows[0]!) };
    });
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  async #inTransaction<T>(what: 'tables' | 'drafts', work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    try {
      await client.query('begin');
      await client.query('select pg_advisory_xact_lock($1, $2)', [LOCKS, what === 'tables' ? 1 : 2]);
      const result = await work(client);
      await client.query('commit');
      client.release();
      return result;
    } catch (error) {
      const lost = await client.query('rollback').then(
        () => false,
        () => true,
      );
      client.release(lost);
      throw error;
    }
  }
}

function indexed({ source, title, fromLine, toLine, text }: Passage): Record<string, unknown> {
  const head = termsOf(title, true);
  const body = termsOf(text, true);
  return {
    source,
    from_line: fromLine,
    to_line: toLine,
    title,
    body: text,
    title_words: head.words.join(' '),
    title_exact: head.exact.join(' '),
    body_words: body.words.join(' '),
    body_exact: body.exact.join(' '),
  };
}

const asDraft = ({ draft_id, revision, content, saved_at }: DraftRow): Draft => ({
  draft_id,
  revision,
  content,
  saved_at: saved_at.toISOString(),
});
