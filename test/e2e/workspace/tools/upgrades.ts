import { defineTool } from 'countersign/tools';

const text = { type: 'string', minLength: 1, maxLength: 60 };
const seat = { type: 'object', properties: { seat: text }, required: ['seat'], additionalProperties: false };
const base = { namespace: 'booking', version: '1.0.0', timeoutMs: 10_000, access: { roles: ['agent'] } };

export const look = defineTool({
  ...base,
  name: 'look',
  layer: 'read',
  title: 'Look at a seat',
  description: 'Tells what a seat costs, and whose it is.',
  whenToUse: 'To know a seat.',
  whenNotToUse: 'To book it.',
  input: seat,
  output: {
    type: 'object',
    properties: {
      seat: { type: 'string' },
      owner: { type: 'string' },
      state: { type: 'string' },
      price: { type: 'integer' },
      version: { type: 'string' },
    },
    required: ['seat', 'version'],
  },
  errors: [{ when: 404, code: 'NOT_FOUND', meaning: 'There is no such seat.' }],
  sideEffects: 'none',
  execution: { kind: 'http', method: 'GET', url: '${BOOKING_URL}/seats/{seat}', pool: 'default' },
});

export const upgrade = defineTool({
  ...base,
  name: 'upgrade',
  layer: 'write',
  title: 'Upgrade a seat',
  description: 'Upgrades one seat at its price.',
  whenToUse: 'To upgrade a seat.',
  whenNotToUse: 'To book one.',
  input: seat,
  output: { type: 'object', properties: { upgrade: { type: 'string' } }, required: ['upgrade'] },
  errors: [{ when: 404, code: 'NOT_FOUND', noEffect: true, meaning: 'There is no such seat.' }],
  risk: 'medium',
  sideEffects: 'money',
  approval: { mode: 'policy' },
  resources: ['seat:{seat}'],
  concurrency: 'per_resource',
  idempotency: { mode: 'none' },
  noUndoReason: 'an upgrade is given back at the counter',
  facts: {
    tool: 'booking.look',
    arguments: { seat: { argument: '/seat' } },
    values: { ownership: '/owner', price: '/price', state: '/state', resourceVersion: '/version' },
    versionPlace: { header: 'If-Match' },
  },
  execution: { kind: 'http', method: 'POST', url: '${BOOKING_URL}/upgrades', pool: 'default' },
});
