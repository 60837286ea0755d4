/**
 * Text of a model may hold what a message, a database or the next provider cannot carry: halves of surrogate pairs and
 * NUL. It is met here, once, for every adapter, and never changes what the strict parser will say.
 */
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const REPLACEMENT = '\ufffd';

/**
 * Every provider's way of writing arguments becomes text for the strict parser: absent, null and blank mean "no
 * arguments"; an object of a compatible server becomes its JSON; text stays as it is.
 */
export function argumentsText(raw: unknown): string {
  if (raw === undefined || raw === null) return '{}';
  const text = typeof raw === 'string' ? raw : JSON.stringify(raw);
  return text.trim() === '' ? '{}' : carriedJson(text);
}

/** Half a pair takes its JSON escape, which the parser refuses at its path; a bare NUL stays what it is: no JSON. */
function carriedJson(text: string): string {
  const carried = text.isWellFormed()
    ? text
    : text.replace(LONE_SURROGATE, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
  return carried.replaceAll('\0', '\\0');
}

/** For names and answers. */
export function plainText(text: string): string {
  return text.toWellFormed().replaceAll('\0', REPLACEMENT);
}

export const isPlain = (text: string): boolean => text.isWellFormed() && !text.includes('\0');
