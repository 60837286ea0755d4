import type { ErrorDetail } from '#kernel';

const MAX_DETAILS = 20;

/** Strict JSON may hold U+0000, which neither a later store nor many tools can carry: refused here, with its place. */
export function nulFaults(value: unknown, path = '', found: ErrorDetail[] = []): ErrorDetail[] {
  if (found.length >= MAX_DETAILS) return found;
  if (typeof value === 'string') {
    if (value.includes('\u0000')) found.push({ path, rule: 'nul', message: 'must not hold the character U+0000' });
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      const at = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (key.includes('\u0000'))
        found.push({ path, rule: 'nul', message: 'must not have a key with the character U+0000' });
      else nulFaults(item, at, found);
    }
  }
  return found;
}

/** A name as asked, in a form that every store and log can carry. */
export const printable = (text: string): string =>
  text.toWellFormed().replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\ufffd');
