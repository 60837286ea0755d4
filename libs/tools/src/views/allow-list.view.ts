import type { ToolContract } from '#contracts';
import type { Json } from '#kernel';

/** The top-level fields that may leave; null = all. Without a list of its own, what the output schema declares. */
export function allowedFields(contract: ToolContract): ReadonlySet<string> | null {
  if (contract.result.allow) return new Set(contract.result.allow);
  const { properties, additionalProperties } = contract.output;
  const open = additionalProperties !== undefined && additionalProperties !== false;
  if (open || typeof properties !== 'object' || properties === null) return null;
  return new Set(Object.keys(properties));
}

/** Drops the other fields of an object, or of each object of a list. */
export function allowList(value: Json, allowed: ReadonlySet<string> | null): Json {
  if (allowed === null || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => (Array.isArray(item) ? item : allowList(item, allowed)));
  const names = Object.keys(value);
  if (names.every((name) => allowed.has(name))) return value;
  return Object.fromEntries(names.filter((name) => allowed.has(name)).map((name) => [name, value[name]!]));
}
