import type { Json } from '#kernel';

/**
 * Whatever a tool returns becomes plain JSON once, right after it ran, by a function that cannot throw: recording a
 * finished effect must not fail because of its result. What JSON cannot hold is replaced by a short text in brackets.
 */
export interface PlainJson {
  readonly value: Json;
  /** How many values were replaced. */
  readonly replaced: number;
}

/** Levels of nesting that are kept; deeper ones are replaced. */
export const MAX_RESULT_DEPTH = 32;
/** Values that are kept; a wider result is cut. */
const MAX_NODES = 500_000;
const POLLUTING = new Set(['__proto__', 'constructor', 'prototype']);

export function toPlainJson(input: unknown): PlainJson {
  const walk = new Walk();
  return { value: walk.convert(input, 0) ?? null, replaced: walk.replaced };
}

class Walk {
  replaced = 0;
  #nodes = 0;
  readonly #above = new Set<object>();

  convert(value: unknown, depth: number): Json | undefined {
    if (++this.#nodes > MAX_NODES) return this.#instead('cut: too many values');
    switch (typeof value) {
      case 'string':
        return value.isWellFormed() ? value : value.toWellFormed();
      case 'boolean':
        return value;
      case 'number':
        if (!Number.isFinite(value)) return this.#instead(String(value));
        return value === 0 ? 0 : value; // JSON has no -0
      case 'bigint':
        this.replaced++;
        return value.toString(); // all digits, as text: no JSON reader rounds it
      case 'undefined':
        return undefined;
      case 'object':
        return value === null ? null : this.#object(value, depth);
      default:
        return this.#instead(typeof value);
    }
  }

  #instead(what: string): string {
    this.replaced++;
    return `[${what}]`;
  }

  #object(value: object, depth: number): Json {
    if (this.#above.has(value)) return this.#instead('circular');
    if (depth >= MAX_RESULT_DEPTH) return this.#instead('cut: too deep');
    this.#above.add(value);
    try {
      return this.#members(value, depth + 1);
    } catch {
      return this.#instead('unreadable');
    } finally {
      this.#above.delete(value);
    }
  }

  #members(value: object, depth: number): Json {
    if (Array.isArray(value)) return this.#list(value, depth);
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return this.#instead(`${value.byteLength} bytes`);
    if (value instanceof Map) return this.#map(value, depth);
    if (value instanceof Set) return this.#list([...value], depth);
    if (value instanceof Error) return { name: this.#text(value, 'name'), message: this.#text(value, 'message') };
    const own = this.#ownForm(value, depth);
    return own === NONE ? this.#record(value, depth) : own;
  }

  /** `toJSON`, where it works (dates, URLs, library types); else the object's own members count. */
  #ownForm(value: object, depth: number): Json | typeof NONE {
    try {
      const { toJSON } = value as { toJSON?: unknown };
      if (typeof toJSON !== 'function') return NONE;
      return this.convert((toJSON as () => unknown).call(value), depth) ?? null;
    } catch {
      this.replaced++;
      return NONE;
    }
  }

  #list(values: readonly unknown[], depth: number): Json {
    const out: Json[] = [];
    for (let i = 0; i < values.length && this.#nodes <= MAX_NODES; i++)
      out.push(this.convert(values[i], depth) ?? null);
    return out;
  }

  #map(value: ReadonlyMap<unknown, unknown>, depth: number): Json {
    const out: { [key: string]: Json } = {};
    for (const [key, member] of value)
      this.#put(out, typeof key === 'string' ? key : safeText(key), () => member, depth);
    return out;
  }

  #record(value: object, depth: number): Json {
    const out: { [key: string]: Json } = {};
    for (const key of Object.keys(value)) {
      if (this.#nodes > MAX_NODES) break;
      this.#put(out, key, () => (value as Record<string, unknown>)[key], depth);
    }
    return out;
  }

  #put(out: { [key: string]: Json }, key: string, read: () => unknown, depth: number): void {
    if (POLLUTING.has(key)) {
      this.replaced++;
      return;
    }
    let member: unknown;
    try {
      member = read();
    } catch {
      out[key.toWellFormed()] = this.#instead('unreadable');
      return;
    }
    if (key === 'toJSON' && typeof member === 'function') return;
    const converted = this.convert(member, depth);
    if (converted !== undefined) out[key.toWellFormed()] = converted;
  }

  #text(value: object, key: string): string {
    try {
      return safeText((value as Record<string, unknown>)[key]);
    } catch {
      return this.#instead('unreadable');
    }
  }
}

const NONE = Symbol('no form of its own');

const safeText = (value: unknown): string =>
  typeof value === 'string'
    ? value.toWellFormed()
    : typeof value === 'object' || typeof value === 'function'
      ? `[${typeof value}]`
      : String(value);
