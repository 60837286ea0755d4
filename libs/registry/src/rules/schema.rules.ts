import type { ToolContract } from '#contracts';
import type { PublishFault } from '../check-publishable.ts';
import { FORMATS } from '../formats.ts';
import { compileSchema } from '../validator.ts';

/** Free text of these names would be a shell or a database, not a tool. */
const RAW_ACCESS = new Set(['sql', 'raw_sql', 'shell', 'shell_command', 'bash', 'cmd']);

type Schema = Readonly<Record<string, unknown>>;
const asSchema = (value: unknown): Schema => (typeof value === 'object' && value !== null ? (value as Schema) : {});

export const propertiesOf = (schema: Schema): Readonly<Record<string, Schema>> =>
  asSchema(schema.properties) as Readonly<Record<string, Schema>>;

/** The input and output schemas, and the fields of the contract that name their properties. */
export function schemaFaults(contract: ToolContract): PublishFault[] {
  return [
    ...compileFaults(contract.input, '/input'),
    ...compileFaults(contract.output, '/output'),
    ...inputFaults(contract),
    ...outputFaults(contract),
  ];
}

function compileFaults(schema: Schema, path: string): PublishFault[] {
  const unknown = unknownFormats(schema, path);
  try {
    compileSchema(schema as Record<string, unknown>);
    return unknown;
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 300) : 'it does not compile';
    return [
      ...unknown,
      { path, rule: 'schema', message: `is not a JSON Schema 2020-12 that can be checked: ${reason}` },
    ];
  }
}

function unknownFormats(schema: unknown, path: string): PublishFault[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { format } = schema as Schema;
  const own =
    typeof format === 'string' && !Object.hasOwn(FORMATS, format)
      ? [
          {
            path: `${path}/format`,
            rule: 'format',
            message: `is not checked by anyone: use pattern, or one of ${Object.keys(FORMATS).join(', ')}`,
          },
        ]
      : [];
  return [...own, ...Object.entries(schema).flatMap(([key, value]) => unknownFormats(value, `${path}/${key}`))];
}

function inputFaults({ input, evidenceArgument, amountArgument, idempotency, fence }: ToolContract): PublishFault[] {
  const faults: PublishFault[] = [];
  const properties = propertiesOf(input);
  if (input.type !== 'object') {
    faults.push({ path: '/input/type', rule: 'objectRoot', message: 'arguments are one object: set type to "object"' });
  }
  if (input.additionalProperties === true) {
    const message = 'would let unchecked arguments through: set it to false and name each argument';
    faults.push({ path: '/input/additionalProperties', rule: 'strict', message });
  }
  for (const [name, schema] of Object.entries(properties)) {
    if (!RAW_ACCESS.has(name) || schema.enum !== undefined || schema.const !== undefined) continue;
    const message = `"${name}" gives raw access instead of one bounded ability: offer the single operations as tools`;
    faults.push({ path: `/input/properties/${name}`, rule: 'rawAccess', message });
  }
  const named = [
    { path: '/evidenceArgument', name: evidenceArgument },
    { path: '/amountArgument', name: amountArgument },
    {
      path: '/idempotency/place/argument',
      name: idempotency.mode === 'key' && 'argument' in idempotency.place ? idempotency.place.argument : undefined,
    },
  ];
  if (fence && 'argument' in fence) named.push({ path: '/fence/argument', name: fence.argument });
  for (const { path, name } of named) {
    if (name !== undefined && !Object.hasOwn(properties, name)) faults.push(unknownArgument(path, name, properties));
  }
  if (amountArgument !== undefined && Object.hasOwn(properties, amountArgument)) {
    const required = Array.isArray(input.required) && input.required.includes(amountArgument);
    if (!required || properties[amountArgument]?.type !== 'integer') {
      const message = `"${amountArgument}" must be a required integer: policy compares it`;
      faults.push({ path: '/amountArgument', rule: 'integer', message });
    }
  }
  return faults;
}

function outputFaults({ output, result }: ToolContract): PublishFault[] {
  const faults: PublishFault[] = [];
  if (Object.keys(output).length === 0) {
    faults.push({
      path: '/output',
      rule: 'required',
      message: 'is empty: describe the data of a success, so that a bad reply is noticed',
    });
  }
  const properties = propertiesOf(output);
  for (const name of result.allow ?? []) {
    if (Object.hasOwn(properties, name)) continue;
    faults.push({
      path: '/result/allow',
      rule: 'known',
      message: `"${name}" is not a field of the output schema: correct or remove it`,
    });
  }
  const pointers = [
    ...result.redact.map((value, i) => ({ path: `/result/redact/${i}`, value })),
    { path: '/result/sourceIds', value: result.sourceIds },
    { path: '/result/resourceId', value: result.resourceId },
  ];
  for (const { path, value } of pointers) {
    if (value === undefined || value === '' || value.startsWith('/')) continue;
    faults.push({ path, rule: 'jsonPointer', message: 'is not a JSON pointer: begin it with "/"' });
  }
  return faults;
}

export function unknownArgument(
  path: string,
  name: string,
  properties: Readonly<Record<string, Schema>>,
): PublishFault {
  const known = Object.keys(properties).join(', ') || 'none';
  return { path, rule: 'known', message: `"${name}" is not an argument of the input schema (known: ${known})` };
}
