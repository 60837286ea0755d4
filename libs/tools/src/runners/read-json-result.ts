import { CountersignError, parseJson, type Json } from '#kernel';
import { HARD_CAP_BYTES, UnreadableResult } from './runner.port.ts';
import { MAX_RESULT_DEPTH, toPlainJson } from './plain-json.ts';

/** Faults of the strict reader that lose nothing when they are mended: they are results, not commands. */
const MENDABLE = new Set(['numberRange', 'forbiddenKey', 'maxDepth']);

/**
 * JSON from outside → plain JSON. Integers beyond 2^53 keep their digits as text, keys that reach a prototype are
 * dropped, what is too deep is replaced; what two readers could read differently is an `UnreadableResult`.
 */
export function readJsonResult(bytes: Uint8Array, capBytes = HARD_CAP_BYTES): Json | UnreadableResult {
  try {
    return parseJson(bytes, { maxBytes: capBytes, maxDepth: MAX_RESULT_DEPTH });
  } catch (error) {
    const rule = error instanceof CountersignError ? error.details[0]?.rule : undefined;
    if (rule === 'maxBytes')
      return new UnreadableResult('RESULT_TOO_LARGE', `the answer has more than ${capBytes} bytes`);
    if (rule !== undefined && MENDABLE.has(rule)) return mend(bytes);
    return new UnreadableResult('INVALID_RESULT', `the answer is not strict JSON (${rule ?? 'unreadable'})`);
  }
}

function mend(bytes: Uint8Array): Json | UnreadableResult {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes), keepDigits);
    return toPlainJson(value).value;
  } catch {
    return new UnreadableResult('INVALID_RESULT', 'the answer is not strict JSON');
  }
}

function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number') return value;
  const exact = Number.isFinite(value) && !(Number.isInteger(value) && !Number.isSafeInteger(value));
  return exact ? value : (context?.source ?? '[number out of range]');
}
