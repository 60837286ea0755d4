import { fieldRows, typeText } from './field-rows.ts';
import { code, page, table } from './markdown.ts';
import { messageSchemas, type MessageDescription } from './message-schemas.ts';

/** messages.md: everything that travels on the bus. */
export function messagesPage(): string {
  const { messages, envelope, schemas } = messageSchemas();
  const types = new Set(messages.map(({ type }) => type));
  const shapes = Object.entries(schemas).filter(([name]) => !types.has(name) && name !== 'ErrorCode');
  const [objects, values] = [shapes.filter(([, s]) => s.properties), shapes.filter(([, s]) => !s.properties)];
  return page(
    'Messages',
    'Services talk by these messages alone. Each is JSON: an envelope around `data`. The key of a record is the callId, the runId or the tenant. A consumer ignores fields that it does not know; a newer version than it knows goes to the dead letters.',
    table(['message', 'kind', 'topic', 'meaning'], messages.map(overviewRow)),
    '## Envelope',
    fieldTable(envelope),
    'Every message names its run; those whose key is the callId name their call too.',
    ...messages.flatMap(({ type, row, sends }) => [
      `## ${type}`,
      row.meaning,
      [
        `- ${row.kind}, version ${row.version}, key ${code(row.key)}`,
        ...sends.map(({ topic, producer }) => `- ${producer} sends it to ${code(topic)}`),
        `- read by ${row.consumers.join(', ')}`,
      ].join('\n'),
      fieldTable(schemas[type]!),
    ]),
    '# Shapes',
    table(
      ['name', 'what it holds'],
      values.map(([name, schema]) => [`<a id="${name.toLowerCase()}"></a>${code(name)}`, typeText(schema)]),
    ),
    ...objects.flatMap(([name, schema]) => [`## ${name}`, fieldTable(schema)]),
  );
}

const overviewRow = ({ type, row }: MessageDescription): string[] => [
  `[${type}](#${type.toLowerCase()})`,
  row.kind,
  row.topic.split(' | ').map(code).join(', '),
  row.meaning,
];

function fieldTable(schema: Parameters<typeof fieldRows>[0]): string {
  const rows = fieldRows(schema);
  return rows.length === 0 ? 'No fields.' : table(['field', 'required', 'holds'], rows);
}
