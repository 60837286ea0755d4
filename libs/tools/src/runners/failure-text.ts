import { cutText } from '../views/cut-text.ts';
import { redactSecrets } from '../views/secret-patterns.ts';
import { cutStackTrace } from '../views/stack-traces.ts';

/** Bytes of a failure's text, wherever it is shown. */
export const MAX_FAILURE_BYTES = 1_024;
const NOTHING = 'the tool failed without a message';

/**
 * The text of whatever was thrown or answered as an error: untrusted, of any type. Looks for a message (also a nested
 * one and the cause's), makes it plain, drops traces, redacts and bounds it. It cannot throw.
 */
export function failureText(thrown: unknown, secrets: readonly string[] = []): string {
  const found = search(thrown, 0) ?? NOTHING;
  const cause = property(thrown, 'cause');
  const because = cause === undefined ? undefined : search(cause, 1);
  return plainText(because === undefined || because === found ? found : `${found} (${because})`, secrets);
}

/** Untrusted text for people and models: no traces, no secrets, no control characters, bounded. */
export function plainText(text: string, secrets: readonly string[] = []): string {
  const near = cutText(text.toWellFormed(), 16_384).text;
  const safe = redactSecrets(cutStackTrace(near), secrets).text.replace(CONTROL, ' ').trim();
  return cutText(safe === '' ? NOTHING : safe, MAX_FAILURE_BYTES).text;
}

// eslint-disable-next-line no-control-regex -- they are what is removed
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]+/g;
const PLACES = ['message', 'error', 'detail', 'title', 'reason', 'data', 'errors', 'description'];

function search(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (value === null || typeof value !== 'object' || depth > 4) return undefined;
  if (Array.isArray(value)) return search(value[0], depth + 1);
  for (const place of PLACES) {
    const text = search(property(value, place), depth + 1);
    if (text !== undefined) return text;
  }
  return undefined;
}

function property(value: unknown, name: string): unknown {
  if (value === null || typeof value !== 'object') return undefined;
  try {
    return (value as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}
