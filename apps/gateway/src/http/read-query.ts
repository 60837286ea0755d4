import type { z } from 'zod';
import { decodeCursor, encodeCursor } from '../domain/page-cursor.ts';
import { noQuerySchema } from '../domain/queries.schema.ts';
import { parseShape } from '../domain/requests.schema.ts';
import { asPage, type View } from '../domain/views.ts';
import type { HttpRequest } from './http-request.ts';

const WHAT = 'The query has the wrong shape';

/** For addresses that take no query. @throws CountersignError INVALID_ARGS with every parameter */
export const refuseQuery = (request: HttpRequest): void => void parseShape(noQuerySchema, request.query, WHAT);

interface PageQuery {
  readonly limit: number;
  readonly after?: string | undefined;
}

export interface AskedPage<F> {
  readonly filters: F;
  readonly limit: number;
  /** The position that the list's owner understands. */
  readonly after: string | undefined;
  /** The answer of the list's owner (`{items, next}`) as the API gives it. */
  show(answer: unknown, show: (item: View) => View | null): { items: View[]; next: string | null };
}

/**
 * Limit, cursor and filters of a list.
 * @param form of positions in this list
 * @throws CountersignError INVALID_ARGS: unknown or wrong parameters, a cursor of another list or other filters
 */
export function readPageQuery<S extends z.ZodType<PageQuery>>(
  request: HttpRequest,
  list: string,
  schema: S,
  form: RegExp,
): AskedPage<Omit<z.infer<S>, 'limit' | 'after'>> {
  const { limit, after, ...filters } = parseShape(schema, request.query, WHAT) as PageQuery;
  return {
    filters: filters as Omit<z.infer<S>, 'limit' | 'after'>,
    limit,
    after: after === undefined ? undefined : decodeCursor(list, filters, after, form),
    show: (answer, show) => {
      const { items, next } = asPage(answer, show);
      return { items, next: next === null ? null : encodeCursor(list, filters, next) };
    },
  };
}
