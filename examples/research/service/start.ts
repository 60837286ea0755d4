import path from 'node:path';
import {
  fieldsOf,
  ok,
  Refused,
  serveJson,
  textOf,
  type JsonAnswer,
  type JsonRequest,
  type JsonService,
} from '../../json-service.ts';
import { Library } from './library.ts';
import { readDocuments } from './read-documents.ts';

/**
 * The library of the example's research team: documents and drafts over HTTP. It knows nothing of Countersign.
 *
 *   GET  /search?query=&limit=
 *   GET  /drafts       POST /drafts     (header Idempotency-Key)
 */
export interface LibraryOptions {
  /** 0 for a free one. */
  readonly port: number;
  /** A PostgreSQL; the library keeps to its schema `research_library` there. */
  readonly databaseUrl: string;
  /** `*.md` files; the example's own if not given. */
  readonly documents?: string;
}

const DOCUMENTS = path.join(import.meta.dirname, '../documents');
const MAX_LIMIT = 5;
const DEFAULT_LIMIT = 3;

export async function start({ port, databaseUrl, documents = DOCUMENTS }: LibraryOptions): Promise<JsonService> {
  const library = await Library.open(databaseUrl, await readDocuments(documents));
  return serveJson(
    port,
    (request) => answer(request, library),
    () => library.close(),
  );
}

async function answer(request: JsonRequest, library: Library): Promise<JsonAnswer> {
  switch (request.route) {
    case 'GET /health':
      return ok({ status: 'ok' });
    case 'GET /search':
      return ok({ hits: await library.search(queryOf(request.query), limitOf(request.query)) });
    case 'GET /drafts':
      return ok({ drafts: await library.drafts() });
    case 'POST /drafts': {
      const fields = fieldsOf(await request.json(), ['draft_id', 'content']);
      const saved = await library.save(
        textOf(fields, 'draft_id', 64),
        textOf(fields, 'content', 20_000),
        request.key(),
      );
      return { status: saved.fresh ? 201 : 200, body: saved.draft };
    }
    default:
      throw new Refused(404, `There is no ${request.route}`, 'no_such_route');
  }
}

function queryOf(query: URLSearchParams): string {
  const text = query.get('query') ?? '';
  if (text.trim() === '' || text.length > 200 || text.includes('\0'))
    throw new Refused(400, 'query must have 1 to 200 characters and must not be blank');
  return text;
}

function limitOf(query: URLSearchParams): number {
  const text = query.get('limit');
  if (text === null) return DEFAULT_LIMIT;
  const limit = Number(text);
  if (!/^\d+$/.test(text) || limit < 1 || limit > MAX_LIMIT)
    throw new Refused(400, `limit must be a whole number from 1 to ${MAX_LIMIT}`);
  return limit;
}
