import { modelToolName, type ToolContract } from '#contracts';

/** A `function` tool of the Responses API. */
export interface FunctionTool {
  readonly type: 'function';
  readonly name: string;
  readonly description: string;
  readonly parameters: Record<string, unknown>;
  readonly strict: boolean;
}

/** Lowers a contract. What the provider cannot hold the model to is checked on our side in any case. */
export function lowerTool(contract: ToolContract): FunctionTool {
  return {
    type: 'function',
    name: modelToolName(contract),
    description: `${contract.description}\nUse when: ${contract.whenToUse}\nDo not use when: ${contract.whenNotToUse}`,
    parameters: contract.input,
    strict: isTriviallyStrict(contract.input),
  };
}

const PLAIN_KEYWORDS = new Set([
  'type',
  'title',
  'description',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  'const',
]);
const PLAIN_TYPES = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']);
/** The oldest documented limit of strict schemas. */
const MAX_DEPTH = 5;

/**
 * True where strict mode changes nothing: every property required, objects closed, only keywords that each version
 * of the API takes. Left out, `strict` would make the API rewrite optional properties into required ones.
 */
export function isTriviallyStrict(schema: unknown, depth = 1): boolean {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema) || depth > MAX_DEPTH) return false;
  const node = schema as Record<string, unknown>;
  if (!Object.keys(node).every((key) => PLAIN_KEYWORDS.has(key))) return false;
  if (depth === 1 && node.type !== 'object') return false;
  if (typeof node.type !== 'string' || !PLAIN_TYPES.has(node.type)) return false;
  if (node.type === 'array') return isTriviallyStrict(node.items, depth + 1);
  if (node.type !== 'object') return true;
  const properties = (node.properties ?? {}) as Record<string, unknown>;
  const required = Array.isArray(node.required) ? node.required : [];
  return (
    node.additionalProperties === false &&
    Object.keys(properties).every((key) => required.includes(key)) &&
    Object.values(properties).every((property) => isTriviallyStrict(property, depth + 1))
  );
}
