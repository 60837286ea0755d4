import { CountersignError, type ErrorDetail } from './errors.ts';
import { pointerStep } from './json-pointer.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface JsonLimits {
  /** Bytes of UTF-8. */
  readonly maxBytes: number;
  /** Nesting of objects and arrays. */
  readonly maxDepth: number;
}
export const DEFAULT_JSON_LIMITS: JsonLimits = { maxBytes: 1_048_576, maxDepth: 32 };

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

function refuse(rule: string, path: string, message: string): never {
  const detail: ErrorDetail = { path, rule, message };
  throw new CountersignError('INVALID_JSON', path === '' ? message : `${message} (at ${path})`, { details: [detail] });
}

/**
 * Strict JSON: what two parsers could read differently is refused instead of repaired: duplicate keys, integers
 * beyond 2^53, numbers beyond range, lone surrogates, NUL characters, broken UTF-8, keys that reach a prototype, too deep, too large.
 * @throws CountersignError INVALID_JSON with the path as a JSON pointer
 */
export function parseJson(input: string | Uint8Array, limits: JsonLimits = DEFAULT_JSON_LIMITS): Json {
  const { value, text } = readJson(input, limits.maxBytes);
  scan(text, limits.maxDepth);
  return value;
}

/**
 * For bytes that our own services wrote: size, UTF-8 and syntax are checked, what JSON.parse hides is not looked for.
 * Nothing that matters is taken from such a text without a digest over the parsed value.
 * @throws CountersignError INVALID_JSON
 */
export function parseOwnJson(input: string | Uint8Array, maxBytes: number): Json {
  return readJson(input, maxBytes).value;
}

function readJson(input: string | Uint8Array, maxBytes: number): { value: Json; text: string } {
  const bytes = typeof input === 'string' ? Buffer.byteLength(input) : input.byteLength;
  if (bytes > maxBytes) refuse('maxBytes', '', `The JSON text has ${bytes} bytes; ${maxBytes} are allowed`);
  let text: string;
  if (typeof input === 'string') text = input;
  else {
    try {
      text = utf8.decode(input);
    } catch {
      refuse('utf8', '', 'The bytes are not UTF-8');
    }
  }
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    const where = /position (\d+)/.exec(String(error))?.[1];
    refuse('syntax', '', where === undefined ? 'The text is not JSON' : `The text is not JSON (at character ${where})`);
  }
  return { value, text };
}

interface Level {
  readonly keys: Set<string> | null;
  segment: string | number;
}

const pointer = (levels: readonly Level[]): string => levels.map((level) => pointerStep(level.segment)).join('');

const STRING = /"(?:[^"\\]|\\.)*"/y;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** Reads a text that JSON.parse accepted once more, for what JSON.parse hides. */
function scan(text: string, maxDepth: number): void {
  const levels: Level[] = [];
  let expectKey = false;
  for (let i = 0; i < text.length;) {
    const char = text[i]!;
    const top = levels.at(-1);
    switch (char) {
      case '{':
      case '[':
        levels.push(char === '{' ? { keys: new Set(), segment: '' } : { keys: null, segment: 0 });
        if (levels.length > maxDepth) refuse('maxDepth', '', `The JSON text nests deeper than ${maxDepth}`);
        expectKey = char === '{';
        i++;
        break;
      case '}':
      case ']':
        levels.pop();
        expectKey = false;
        i++;
        break;
      case ',':
        if (top?.keys) expectKey = true;
        else if (top) top.segment = (top.segment as number) + 1;
        i++;
        break;
      case '"': {
        STRING.lastIndex = i;
        const raw = STRING.exec(text)![0];
        i += raw.length;
        const content = raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1);
        if (expectKey && top?.keys) {
          top.segment = content;
          if (top.keys.has(content)) refuse('duplicateKey', pointer(levels), 'The key stands twice in one object');
          if (FORBIDDEN_KEYS.has(content)) refuse('forbiddenKey', pointer(levels), 'The key is not allowed');
          top.keys.add(content);
          expectKey = false;
        }
        if (content.includes('\u0000'))
          refuse('nul', pointer(levels), 'The text holds a NUL character, which cannot be stored');
        if (LONE_SURROGATE.test(content)) refuse('surrogate', pointer(levels), 'The text holds half a surrogate pair');
        break;
      }
      default:
        if (char === '-' || (char >= '0' && char <= '9')) {
          NUMBER.lastIndex = i;
          const raw = NUMBER.exec(text)![0];
          i += raw.length;
          checkNumber(raw, levels);
        } else i++;
    }
  }
}

function checkNumber(raw: string, levels: readonly Level[]): void {
  const value = Number(raw);
  if (!Number.isFinite(value)) refuse('numberRange', pointer(levels), 'The number is out of range');
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    refuse('numberRange', pointer(levels), 'The integer is beyond 2^53 and would be rounded');
  }
}
