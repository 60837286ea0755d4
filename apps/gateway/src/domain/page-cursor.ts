import { CountersignError, digestJson, type Json } from '#kernel';

/**
 * `next` and `after` of the lists: opaque to callers, bound to the list and its filters, so that a page of another
 * question is refused instead of being answered wrongly. It grants nothing: each page is authorized anew.
 */
export function encodeCursor(list: string, filters: object, position: string): string {
  return Buffer.from(JSON.stringify([list, digestOf(filters), position])).toString('base64url');
}

/** @param form of positions in this list. @throws CountersignError INVALID_ARGS */
export function decodeCursor(list: string, filters: object, cursor: string, form: RegExp): string {
  const [ofList, digest, position] = read(cursor);
  if (ofList !== list || typeof position !== 'string' || !form.test(position))
    throw refuse('is not the `next` of a page of this list');
  if (digest !== digestOf(filters)) throw refuse('belongs to a page with other filters; begin without `after`');
  return position;
}

function read(cursor: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

const digestOf = (filters: object): string =>
  digestJson('page/v1', JSON.parse(JSON.stringify(filters)) as Json).slice(-12);

const refuse = (message: string): CountersignError =>
  new CountersignError('INVALID_ARGS', `The query has the wrong shape: /after ${message}`, {
    details: [{ path: '/after', rule: 'cursor', message }],
  });
