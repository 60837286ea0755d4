import type { Json } from '#kernel';
import { byteLength, cutText } from './cut-text.ts';
import { joinPointer } from './pointer.ts';

export interface LimitedView {
  readonly value: Json;
  /** JSON of `value`. */
  readonly text: string;
  /** What was left out, in words; null when all is there. */
  readonly left: string | null;
}

/** Places that a notice names. */
const MAX_NOTES = 5;

/** Cuts a value to at most `maxBytes` bytes of JSON and `maxItems` items a list; what comes out is whole JSON again. */
export function limit(value: Json, text: string, maxBytes: number, maxItems: number | undefined): LimitedView {
  const fits = byteLength(text) <= maxBytes;
  if (fits && maxItems === undefined) return { value, text, left: null };
  const cutter = new Cutter(maxItems ?? Number.POSITIVE_INFINITY);
  const shortened = maxItems === undefined ? value : cutter.items(value, '');
  const listed = shortened === value ? text : JSON.stringify(shortened);
  const cut = byteLength(listed) <= maxBytes ? shortened : cutter.bytes(shortened, '', maxBytes);
  if (cut === value) return { value, text, left: null };
  return { value: cut, text: JSON.stringify(cut), left: cutter.notes() };
}

class Cutter {
  readonly #maxItems: number;
  readonly #notes: string[] = [];

  constructor(maxItems: number) {
    this.#maxItems = maxItems;
  }

  notes(): string {
    const more = this.#notes.length - MAX_NOTES;
    return [...this.#notes.slice(0, MAX_NOTES), ...(more > 0 ? [`${more} more places`] : [])].join('; ');
  }

  /** Copies only what it changes. */
  items(value: Json, path: string): Json {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const kept = value.length > this.#maxItems ? value.slice(0, this.#maxItems) : value;
      if (kept !== value) this.#note(path, `${kept.length} of ${value.length} items`);
      const out = kept.map((item, i) => this.items(item, joinPointer(path, i)));
      return kept === value && out.every((item, i) => item === value[i]) ? value : out;
    }
    const out: Record<string, Json> = {};
    let changed = false;
    for (const [key, member] of Object.entries(value)) {
      out[key] = this.items(member, joinPointer(path, key));
      changed ||= out[key] !== member;
    }
    return changed ? out : value;
  }

  bytes(value: Json, path: string, room: number): Json {
    if (typeof value === 'string') return this.#string(value, path, room);
    if (typeof value !== 'object' || value === null) return value;
    return Array.isArray(value) ? this.#list(value, path, room) : this.#record(value, path, room);
  }

  #note(path: string, what: string): void {
    this.#notes.push(`${path === '' ? 'the result' : path}: ${what}`);
  }

  #string(value: string, path: string, room: number): Json {
    if (sizeOf(value) <= room) return value;
    const total = byteLength(value);
    let target = Math.max(0, room - 2);
    let cut = cutText(value, target).text;
    while (target > 0 && sizeOf(cut) > room) {
      target = Math.floor(target * 0.8); // characters that JSON escapes need more room
      cut = cutText(value, target).text;
    }
    this.#note(path, `part of ${total} bytes`);
    return cut;
  }

  #list(value: readonly Json[], path: string, room: number): Json {
    const out: Json[] = [];
    let left = room - 2;
    for (const [i, item] of value.entries()) {
      const size = sizeOf(item) + 1;
      if (size <= left) {
        out.push(item);
        left -= size;
        continue;
      }
      if (i === 0 && left > 16) out.push(this.bytes(item, joinPointer(path, i), left - 1));
      break;
    }
    if (out.length < value.length) this.#note(path, `${out.length} of ${value.length} items`);
    return out;
  }

  /** Small members stay whole; large ones share what is left, in order. */
  #record(value: { [key: string]: Json }, path: string, room: number): Json {
    const sizes = Object.entries(value).map(([key, member]) => ({
      key,
      member,
      frame: sizeOf(key) + 2,
      size: sizeOf(member),
    }));
    let left = room - 2;
    const fair = Math.floor(left / Math.max(1, sizes.length));
    const small = new Set(sizes.filter((entry) => entry.frame + entry.size <= fair).map((entry) => entry.key));
    for (const entry of sizes) if (small.has(entry.key)) left -= entry.frame + entry.size;
    let large = sizes.length - small.size;
    const out: Record<string, Json> = {};
    let dropped = 0;
    for (const { key, member, frame, size } of sizes) {
      if (small.has(key)) {
        out[key] = member;
        continue;
      }
      const share = Math.floor(left / large--) - frame;
      if (share < 16) {
        dropped++;
        continue;
      }
      const kept = size <= share ? member : this.bytes(member, joinPointer(path, key), share);
      out[key] = kept;
      left -= frame + sizeOf(kept);
    }
    if (dropped > 0) this.#note(path, `${dropped} of ${sizes.length} fields left out`);
    return out;
  }
}

const sizeOf = (value: Json): number => byteLength(JSON.stringify(value));
