import type { ResourceForm } from '#contracts';
import type { ErrorDetail } from '#kernel';
import { inForm } from './resource-form.ts';

const PLACEHOLDER = /\{([^{}]*)\}/g;
/** Control and format characters (which include bidirectional overrides and zero-width ones) and line separators. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\u2028\u2029]/u;
const MAX_LENGTH = 512;
/** A list argument may name several things, within reason. */
const MAX_TEXTS = 256;

export type Rendered =
  { readonly ok: true; readonly texts: readonly string[] } | { readonly ok: false; readonly detail: ErrorDetail };

/**
 * Fills a template; a list gives one text for each of its items. A template with several places escapes the characters
 * that could move text from one place to the next, so that different values never give the same text.
 */
export function renderTemplate(
  template: string,
  valueOf: (place: string) => { path: string; value: unknown; form?: ResourceForm | undefined },
): Rendered {
  const places = [...template.matchAll(PLACEHOLDER)].map((match) => match[1]!);
  let texts: string[] = [template];
  for (const place of places) {
    const { path, value, form } = valueOf(place);
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (values.length === 0) return fault(path, 'minItems', 'must name at least one');
    if (values.length * texts.length > MAX_TEXTS) return fault(path, 'maxItems', `names more than ${MAX_TEXTS}`);
    const filled: string[] = [];
    for (const [index, item] of values.entries()) {
      const text = scalarText(item);
      const at = Array.isArray(value) ? `${path}/${index}` : path;
      const wrong = whatIsWrong(item, text);
      if (wrong) return fault(at, ...wrong);
      const formed = inForm(text!, form);
      if ('wrong' in formed) return fault(at, ...formed.wrong);
      const safe = places.length > 1 ? formed.text.replace(/[%:/{}]/g, encodeURIComponent) : formed.text;
      for (const partly of texts) filled.push(partly.replace(`{${place}}`, () => safe));
    }
    texts = filled;
  }
  return { ok: true, texts };
}

function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value.normalize('NFC');
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

function whatIsWrong(item: unknown, text: string | undefined): [rule: string, message: string] | undefined {
  if (item === undefined) return ['required', 'is needed to name what the call touches'];
  if (text === undefined) return ['template', 'must be a text, number or boolean'];
  if (text === '') return ['template', 'must not be empty'];
  if (UNPRINTABLE.test(text)) return ['controlCharacter', 'must not hold control or invisible characters'];
  return text.length > MAX_LENGTH ? ['maxLength', `must have at most ${MAX_LENGTH} characters`] : undefined;
}

const fault = (path: string, rule: string, message: string): Rendered => ({
  ok: false,
  detail: { path, rule, message },
});
