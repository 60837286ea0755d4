import { HttpProblem } from './problem.ts';

const EVENTS = /^\/v1\/runs\/[^/]+\/events\/?(\?|$)/;

/** Media ranges that a caller of an address may name, besides the one for all. */
const formsOf = (url: string): readonly string[] =>
  EVENTS.test(url)
    ? ['text/event-stream', 'text/*']
    : ['application/json', 'application/problem+json', 'application/*'];

/** @throws HttpProblem 406 when the caller accepts no form that the address has. Errors come as problem documents all the same. */
export function requireAcceptable(url: string, accept: unknown): void {
  if (accept === undefined || accept === '') return;
  const forms = formsOf(url);
  for (const part of String(accept).toLowerCase().split(',')) {
    const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    const refused = parameters.some((parameter) => /^q=0(\.0{0,3})?$/.test(parameter));
    if (!refused && (range === '*/*' || forms.includes(range))) return;
  }
  throw new HttpProblem(406, 'INVALID_ARGS', `Accept: here is only ${forms[0]}; name it, or leave the header out`, {
    details: [{ path: 'header:Accept', rule: 'acceptable', allowed: [forms[0]] }],
  });
}
