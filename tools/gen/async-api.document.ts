import type { JsonSchema } from '../../apps/gateway/src/openapi/schema-shelf.ts';
import { TOPICS } from '#contracts';
import { AUDIT_EVENT } from './audit-event.schema.ts';
import { messageSchemas, type MessageDescription } from './message-schemas.ts';

/** The AsyncAPI 3.0 document of the bus: who sends what where; who reads it stands beside each message. */
export function asyncApiDocument(version: string): JsonSchema {
  const { messages, envelope, schemas } = messageSchemas();
  const sends = messages.flatMap((message) => message.sends.map((send) => ({ message, ...send })));
  const topics = [...new Set(sends.map(({ topic }) => topic))];
  const producers = [...new Set(sends.map(({ producer, topic }) => `${producer} ${topic}`))];
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Countersign: messages between the services',
      version,
      description: 'Kafka topics of an installation. `<pool>` stands for the name of an executor pool.',
      license: { name: 'Apache-2.0' },
    },
    defaultContentType: 'application/json',
    channels: {
      ...Object.fromEntries(topics.map((topic) => [channelId(topic), channelOf(topic, sends)])),
      [TOPICS.auditEvents]: {
        address: TOPICS.auditEvents,
        description: 'The public topic: hash-chained audit records and signed checkpoints, for whoever may read it.',
        messages: { AuditEvent: { $ref: '#/components/messages/AuditEvent' } },
      },
    },
    operations: Object.fromEntries(
      [...producers, `telemetry ${TOPICS.auditEvents}`].map((key) => {
        const [producer = '', topic = ''] = key.split(' ');
        const sent = sends.filter((send) => send.producer === producer && send.topic === topic);
        const channel = `#/channels/${channelId(topic)}`;
        const operation = {
          action: 'send',
          channel: { $ref: channel },
          tags: [{ name: producer }],
          messages: (topic === TOPICS.auditEvents ? ['AuditEvent'] : sent.map(({ message }) => message.type)).map(
            (type) => ({ $ref: `${channel}/messages/${type}` }),
          ),
        };
        return [`${producer}.${channelId(topic)}`, operation];
      }),
    ),
    components: {
      messages: {
        ...Object.fromEntries(messages.map((message) => [message.type, messageOf(message)])),
        AuditEvent: {
          name: 'AuditEvent',
          summary: 'A CloudEvent of the audit log.',
          contentType: 'application/cloudevents+json',
          payload: { $ref: '#/components/schemas/AuditEvent' },
          bindings: { kafka: { key: { type: 'string', description: 'The callId, else the runId, else the tenant.' } } },
        },
      },
      schemas: { ...schemas, Envelope: envelope, AuditEvent: AUDIT_EVENT },
    },
  };
}

interface Send {
  readonly message: MessageDescription;
  readonly topic: string;
}

function channelOf(topic: string, sends: readonly Send[]): JsonSchema {
  const pool = { pool: { description: 'Executor pool.', default: 'default' } };
  return {
    address: topic.replace('<pool>', '{pool}'),
    ...(topic.includes('<pool>') ? { parameters: pool } : {}),
    messages: refs(sends.filter((send) => send.topic === topic).map(({ message }) => message)),
  };
}

const channelId = (topic: string): string => topic.replace('.<pool>', '');

const refs = (messages: readonly MessageDescription[]): JsonSchema =>
  Object.fromEntries(messages.map(({ type }) => [type, { $ref: `#/components/messages/${type}` }]));

function messageOf({ type, row }: MessageDescription): JsonSchema {
  return {
    name: type,
    summary: row.meaning,
    tags: [{ name: row.kind }],
    payload: {
      allOf: [
        { $ref: '#/components/schemas/Envelope' },
        {
          type: 'object',
          properties: {
            type: { const: type },
            schemaVersion: { const: row.version },
            data: { $ref: `#/components/schemas/${type}` },
          },
          required: [
            'type',
            'schemaVersion',
            'data',
            ...(row.key === 'tenant' ? [] : ['runId']),
            ...(row.key === 'callId' ? ['callId'] : []),
          ],
        },
      ],
    },
    bindings: { kafka: { key: { type: 'string', description: `The ${row.key} of the envelope.` } } },
    'x-consumers': [...row.consumers],
  };
}
