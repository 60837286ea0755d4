import { createHash } from 'node:crypto';
import { HttpProblem } from '../domain/problem.ts';
import type { Headers } from '../domain/request-headers.ts';
import type { HttpReply } from './http-request.ts';

/** The strong ETag of a document: the same content has the same tag at every gateway process. */
export const entityTag = (document: object): string =>
  `"${createHash('sha256').update(JSON.stringify(document)).digest('base64url').slice(0, 27)}"`;

const LIST = /^\s*(?:\*|(?:W\/)?"[\x21\x23-\x7e]*"(?:\s*,\s*(?:W\/)?"[\x21\x23-\x7e]*")*)\s*$/;

/** The tags that a header names; `*` is all. @throws HttpProblem 400 when it is no list of ETags */
function tagsOf(headers: Headers, name: 'If-Match' | 'If-None-Match'): string[] | undefined {
  const found = headers[name.toLowerCase()];
  if (found === undefined) return undefined;
  const text = String(found);
  if (LIST.test(text)) return text.split(',').map((tag) => tag.trim());
  const message = 'must be ETags in double quotes, or *';
  throw new HttpProblem(400, 'INVALID_ARGS', `${name}: ${message}`, {
    details: [{ path: `header:${name}`, rule: 'format', message }],
  });
}

const withoutWeak = (tag: string): string => tag.replace(/^W\//, '');

/**
 * Answers the document with its ETag, or 304 where the caller has it (compared weakly, RFC 9110).
 * @param tagged what the tag is made of, where the document holds more, such as the request's id
 */
export function answerTagged(headers: Headers, reply: HttpReply, document: object, tagged: object = document): unknown {
  const tag = entityTag(tagged);
  reply.header('etag', tag).header('cache-control', 'private, no-cache').header('vary', 'authorization');
  const known = tagsOf(headers, 'If-None-Match');
  if (!known?.some((candidate) => candidate === '*' || withoutWeak(candidate) === tag)) return document;
  reply.status(304);
  return undefined;
}

/**
 * @param shown members of the problem that show the current state
 * @throws HttpProblem 412 when If-Match names other states than this one (compared strongly); 400
 */
export function requireMatch(headers: Headers, document: object, shown: Readonly<Record<string, unknown>>): void {
  const wanted = tagsOf(headers, 'If-Match');
  const tag = entityTag(document);
  if (!wanted || wanted.some((candidate) => candidate === '*' || candidate === tag)) return;
  throw new HttpProblem(412, 'APPROVAL_MISMATCH', 'It has changed since it was looked at; look again, then decide', {
    headers: { etag: tag },
    details: [{ path: 'header:If-Match', rule: 'current', allowed: [tag] }],
    extension: shown,
  });
}
