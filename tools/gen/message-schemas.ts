import * as contracts from '#contracts';
import { CATALOGUE, type CatalogueRow } from '#contracts';
import { SchemaShelf, type JsonSchema } from '../../apps/gateway/src/openapi/schema-shelf.ts';

export interface MessageDescription {
  readonly type: string;
  readonly row: CatalogueRow;
  /** The rows's topics with the service that sends it there. */
  readonly sends: readonly { readonly topic: string; readonly producer: string }[];
}

export interface MessageSchemas {
  readonly messages: readonly MessageDescription[];
  readonly envelope: JsonSchema;
  /** Data of each message and every shape that one of them uses, by name. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
}

/** The catalogue as it stands in the code, with JSON Schemas of what travels. */
export function messageSchemas(): MessageSchemas {
  const shelf = new SchemaShelf(contracts);
  const rows: readonly [string, CatalogueRow][] = Object.entries(CATALOGUE);
  for (const [type, { schema }] of rows) {
    const { $ref } = shelf.schema(schema, 'output');
    if ($ref !== `#/components/schemas/${type}`)
      throw new TypeError(`the schema of ${type} is not exported under its name`);
  }
  const { data: _data, ...properties } = contracts.envelopeSchema.shape;
  const envelope = shelf.schema(contracts.envelopeSchema.pick(trueFor(properties)), 'output');
  return {
    messages: rows.map(([type, row]) => ({ type, row, sends: sendsOf(type, row) })),
    envelope,
    schemas: shelf.all(),
  };
}

/** Several topics and several producers stand in the same order. */
function sendsOf(type: string, { topic, producer }: CatalogueRow): MessageDescription['sends'] {
  const topics = topic.split(' | ');
  const producers = producer.split(/, | or /);
  if (topics.length > 1 && topics.length !== producers.length)
    throw new TypeError(`${type} has ${topics.length} topics and ${producers.length} producers: list them pairwise`);
  return topics.map((name, i) => ({ topic: name, producer: topics.length > 1 ? producers[i]! : producer }));
}

const trueFor = <T extends object>(shape: T): { [K in keyof T]: true } =>
  Object.fromEntries(Object.keys(shape).map((name) => [name, true])) as { [K in keyof T]: true };
