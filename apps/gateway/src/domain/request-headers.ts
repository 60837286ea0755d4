import { HttpProblem } from './problem.ts';

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Seconds that a request may wait for its end. */
export const MAX_WAIT_S = 60;
const KEY = /^[\x21\x23-\x7e]{1,255}$/;
const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

const refuse = (header: string, rule: string, message: string): HttpProblem =>
  new HttpProblem(400, 'INVALID_ARGS', `${header}: ${message}`, {
    details: [{ path: `header:${header}`, rule, message }],
  });

/** `Idempotency-Key`, quoted or bare: 1 to 255 visible ASCII characters without quotes. @throws HttpProblem 400 */
export function idempotencyKey(headers: Headers): string | undefined {
  const found = headers['idempotency-key'];
  if (found === undefined) return undefined;
  const name = 'Idempotency-Key';
  if (typeof found !== 'string') throw refuse(name, 'single', 'is given more than once');
  const text = found.trim();
  const key = text.length >= 2 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
  if (!KEY.test(key))
    throw refuse(name, 'format', 'must be 1 to 255 visible ASCII characters, bare or in double quotes');
  return key;
}

/** `Prefer: wait=N` in milliseconds, at most MAX_WAIT_S; 0 without one. Other preferences are ignored (RFC 7240). @throws HttpProblem 400 */
export function waitMs(headers: Headers): number {
  const found = headers['prefer'];
  if (found === undefined) return 0;
  for (const part of String(found).split(',')) {
    const [, value] = /^\s*wait\s*=\s*"?([^";]*)"?/i.exec(part) ?? [];
    if (value === undefined) continue;
    if (!/^\d{1,6}$/.test(value.trim()))
      throw refuse('Prefer', 'wait', 'wait must be a number of seconds, such as wait=30');
    return Math.min(Number(value), MAX_WAIT_S) * 1000;
  }
  return 0;
}

/** The caller's trace, if it gives a well-formed one. */
export function traceparent(headers: Headers): string | undefined {
  const found = headers['traceparent'];
  return typeof found === 'string' && TRACEPARENT.test(found) ? found : undefined;
}
