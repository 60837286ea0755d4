import { z } from 'zod';

/**
 * JSON Schema 2020-12 of a zod type. Arguments are closed (an unknown one is refused); results are open (a field that
 * a backend adds is dropped by the allow-list instead of failing the call).
 * @throws Error where zod has no JSON Schema for the type
 */
export function schemaFromZod(schema: z.ZodType, place: 'input' | 'output'): Record<string, unknown> {
  const document = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io: 'input',
    unrepresentable: 'throw',
    override: ({ jsonSchema }) => {
      if (
        place === 'input' &&
        jsonSchema.type === 'object' &&
        jsonSchema.properties &&
        jsonSchema.additionalProperties === undefined
      ) {
        jsonSchema.additionalProperties = false;
      }
    },
  });
  const { $schema: _dialect, ...rest } = JSON.parse(JSON.stringify(document)) as Record<string, unknown>;
  return rest;
}
