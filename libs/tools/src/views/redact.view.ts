import type { Json } from '#kernel';
import { replaceAt, type Segments } from './pointer.ts';
import { mayHoldSecret, redactSecrets, SECRET_FIELD } from './secret-patterns.ts';
import { holdsStackTrace, mayHoldStackTrace } from './stack-traces.ts';

export interface RedactedView {
  readonly value: Json;
  readonly count: number;
}

export const REDACTED = '[redacted]';
export const BLOCKED_TRACE = '[blocked: stack trace]';

/** Replaces what the contract names. */
export function redactDeclared(value: Json, pointers: readonly Segments[]): RedactedView {
  let count = 0;
  let out = value;
  for (const segments of pointers) {
    out = replaceAt(out, segments, (found) => {
      if (found === null) return null;
      count++;
      return REDACTED;
    });
  }
  return { value: out, count };
}

/** Replaces what looks like a secret or shows a program's inside. `text` is the JSON of `value`: one look at it spares most walks. */
export function redactFound(value: Json, text: string, secrets: readonly string[]): RedactedView {
  const known = secrets.filter((secret) => secret.length >= 6 && text.includes(JSON.stringify(secret).slice(1, -1)));
  const nul = text.includes('\\u0000'); // PostgreSQL's jsonb and text hold no NUL
  if (!nul && known.length === 0 && !mayHoldSecret(text) && !mayHoldStackTrace(text)) return { value, count: 0 };
  let count = 0;
  const visitText = (original: string): string => {
    const found = nul ? original.replaceAll('\0', '\ufffd') : original;
    if (holdsStackTrace(found)) {
      count++;
      return BLOCKED_TRACE;
    }
    const redacted = redactSecrets(found, known);
    count += redacted.count;
    return redacted.text;
  };
  const visit = (found: Json): Json => {
    if (typeof found === 'string') return visitText(found);
    if (typeof found !== 'object' || found === null) return found;
    if (Array.isArray(found)) return found.map(visit);
    const out: Record<string, Json> = {};
    for (const [key, member] of Object.entries(found)) {
      if (typeof member === 'string' && member !== '' && SECRET_FIELD.test(key)) {
        count++;
        out[key] = REDACTED;
      } else out[visitText(key)] = visit(member);
    }
    return out;
  };
  const redacted = visit(value);
  return count === 0 && !nul ? { value, count: 0 } : { value: redacted, count };
}
