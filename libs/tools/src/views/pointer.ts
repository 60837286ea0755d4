import { pointerStep, type Json } from '#kernel';

/** A JSON pointer whose `*` stands for every item or member. */
export type Segments = readonly string[];

export const joinPointer = (path: string, key: string | number): string => `${path}${pointerStep(key)}`;

export interface Found {
  readonly value: Json;
  readonly path: string;
  /** What holds the value, and where. */
  readonly parent: Json;
  readonly parentPath: string;
}

/** Each value that the pointer names, in order of the document. */
export function findAt(root: Json, segments: Segments): Found[] {
  const found: Found[] = [];
  const walk = (value: Json, parent: Json, path: string, parentPath: string, depth: number): void => {
    if (depth === segments.length) {
      found.push({ value, path, parent, parentPath });
      return;
    }
    for (const key of keysAt(value, segments[depth]!)) {
      walk((value as Record<string, Json>)[key]!, value, joinPointer(path, key), path, depth + 1);
    }
  };
  walk(root, root, '', '', 0);
  return found;
}

/** A copy in which each named value is replaced; the same value when nothing is named. */
export function replaceAt(root: Json, segments: Segments, replace: (value: Json) => Json): Json {
  const walk = (value: Json, depth: number): Json => {
    if (depth === segments.length) return replace(value);
    const keys = keysAt(value, segments[depth]!);
    if (keys.length === 0) return value;
    const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, Json>;
    for (const key of keys) copy[key] = walk(copy[key]!, depth + 1);
    return copy as Json;
  };
  return walk(root, 0);
}

function keysAt(value: Json, segment: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (segment === '*') return Object.keys(value);
  return Object.hasOwn(value, segment) ? [segment] : [];
}
