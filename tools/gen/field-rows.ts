import type { JsonSchema } from '../../apps/gateway/src/openapi/schema-shelf.ts';
import { code } from './markdown.ts';

/** `field`, whether it must be there, what it holds: one row for each field of an object, the inner ones after it. */
export function fieldRows(schema: JsonSchema, prefix = ''): string[][] {
  const required = new Set((schema.required as readonly string[] | undefined) ?? []);
  return Object.entries((schema.properties as Record<string, JsonSchema> | undefined) ?? {}).flatMap(
    ([name, field]) => [
      [code(prefix + name), required.has(name) ? 'yes' : '', described(field)],
      ...innerRows(field, prefix + name),
    ],
  );
}

/** In one line. */
export function typeText(schema: JsonSchema): string {
  if (typeof schema.$ref === 'string') return refText(schema.$ref);
  if ('const' in schema) return code(JSON.stringify(schema.const));
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => code(String(value))).join(', ');
  const either = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  if (either) return [...new Set(either.map(typeText))].join(' or ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeText({ ...schema, type })).join(' or ');
  switch (schema.type) {
    case 'array':
      return `list${range(schema.minItems, schema.maxItems, ' of ')} of ${typeText(schema.items as JsonSchema)}`;
    case 'object':
      return schema.properties || typeof schema.additionalProperties !== 'object'
        ? 'object'
        : `map to ${typeText(schema.additionalProperties as JsonSchema)}`;
    case 'string':
      return `string${range(schema.minLength, schema.maxLength, ' of ', ' characters')}${patternText(schema)}`;
    case 'integer':
    case 'number':
      return `${schema.type}${range(schema.minimum, schema.maximum, ' ')}`;
    case undefined:
      return 'anything';
    default:
      return String(schema.type);
  }
}

function described(schema: JsonSchema): string {
  const text = typeof schema.description === 'string' ? `; ${schema.description}` : '';
  const fallback = 'default' in schema ? `; default ${code(JSON.stringify(schema.default))}` : '';
  return typeText(schema) + fallback + text;
}

function innerRows(schema: JsonSchema, name: string): string[][] {
  if (schema.properties) return fieldRows(schema, `${name}.`);
  if (schema.type === 'array') return innerRows(schema.items as JsonSchema, `${name}[]`);
  return ((schema.anyOf as JsonSchema[] | undefined) ?? []).flatMap((one) => innerRows(one, name));
}

function refText(ref: string): string {
  const name = ref.slice(ref.lastIndexOf('/') + 1);
  return name === 'ErrorCode' ? '[error code](errors.md)' : `[${name}](#${name.toLowerCase()})`;
}

const patternText = (schema: JsonSchema): string =>
  typeof schema.pattern === 'string' && schema.pattern.length <= 80
    ? ` like ${code(schema.pattern)}`
    : typeof schema.format === 'string'
      ? ` (${schema.format})`
      : '';

function range(min: unknown, max: unknown, before: string, after = ''): string {
  if (typeof min === 'number' && typeof max === 'number') return `${before}${min} to ${max}${after}`;
  if (typeof max === 'number') return `${before}at most ${max}${after}`;
  return typeof min === 'number' ? `${before}at least ${min}${after}` : '';
}
