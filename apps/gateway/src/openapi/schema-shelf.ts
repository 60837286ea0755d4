import { z } from 'zod';
import { ERROR_CODE_NAMES } from '#kernel';

export type JsonSchema = { [keyword: string]: unknown };
type Metadata = z.core.$ZodRegistry<{ id?: string }>;

const ERROR_CODE = 'ErrorCode';
const CODES = ERROR_CODE_NAMES.join();
const REF = '#/components/schemas/';

/**
 * JSON Schemas of one document: what has a name is written once and referred to, so are the error codes.
 * A name stands for one form, as it is answered or as it is sent; giving it to both is a fault of the caller.
 */
export class SchemaShelf {
  readonly #names = new Map<object, string>();
  readonly #written = new Map<string, JsonSchema>([[ERROR_CODE, { type: 'string', enum: [...ERROR_CODE_NAMES] }]]);
  /** Names for zod, over the descriptions that the schemas have. */
  readonly #metadata: Metadata = z.registry();

  constructor(named: Readonly<Record<string, unknown>>) {
    for (const [name, schema] of Object.entries(named))
      if (schema instanceof z.ZodType && name.endsWith('Schema')) this.#names.set(schema, nameOf(name));
    const described = (schema: z.ZodType): object => {
      const id = this.#names.get(schema);
      return { ...z.globalRegistry.get(schema), ...(id === undefined ? {} : { id }) };
    };
    this.#metadata.get = described as Metadata['get'];
  }

  /** @param io `input`: as a client sends it, before defaults; `output`: as it is answered */
  schema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    const made = z.toJSONSchema(schema, {
      io,
      metadata: this.#metadata,
      override: ({ jsonSchema }) => simplify(jsonSchema as JsonSchema, io),
    }) as JsonSchema;
    const { $schema: _draft, $defs = {}, ...body } = made;
    for (const [name, definition] of Object.entries($defs as Record<string, JsonSchema>)) this.#write(name, definition);
    const own = this.#names.get(schema);
    if (own === undefined) return relocated(body) as JsonSchema;
    if (!('$ref' in body)) this.#write(own, body);
    return { $ref: REF + own };
  }

  /** All that was written so far, by name. */
  all(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.#written].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #write(name: string, body: JsonSchema): void {
    const schema = relocated(body) as JsonSchema;
    const other = this.#written.get(name);
    if (other !== undefined && JSON.stringify(other) !== JSON.stringify(schema))
      throw new TypeError(`the schema ${name} is sent in one form and answered in another: name them apart`);
    this.#written.set(name, schema);
  }
}

/** `runViewSchema` → `RunView` */
const nameOf = (constant: string): string => constant[0]!.toUpperCase() + constant.slice(1, -'Schema'.length);

/** In place, as zod asks for it. */
function simplify(schema: JsonSchema, io: 'input' | 'output'): void {
  if (Array.isArray(schema.enum) && schema.enum.join() === CODES) {
    delete schema.type;
    delete schema.enum;
    schema.$ref = REF + ERROR_CODE;
  }
  // What is answered may gain fields.
  if (io === 'output' && schema.additionalProperties === false) delete schema.additionalProperties;
  // What JavaScript can count is no limit of ours.
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  // `format` says it; the pattern is of the library that checks it.
  if (schema.format === 'date-time') delete schema.pattern;
}

function relocated(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(relocated);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      name === '$ref' && typeof inner === 'string' ? inner.replace('#/$defs/', REF) : relocated(inner),
    ]),
  );
}
