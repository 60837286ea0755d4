import { CHANGE_KINDS, type ChangeKind } from '#contracts';

/** One difference between two contracts of a tool. */
export interface ToolChange {
  /** JSON pointer into the contract. */
  readonly path: string;
  readonly kind: Exclude<ChangeKind, 'identical'>;
  readonly message: string;
}

export interface ToolDiff {
  readonly kind: ChangeKind;
  readonly changes: readonly ToolChange[];
}

export const gravest = (changes: readonly ToolChange[]): ChangeKind =>
  CHANGE_KINDS[Math.max(0, ...changes.map(({ kind }) => CHANGE_KINDS.indexOf(kind)))]!;

/** Equal as JSON, whatever the order of keys. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(Reflect.get(a, key), Reflect.get(b, key)))
  );
}
