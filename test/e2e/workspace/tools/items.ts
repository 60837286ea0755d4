import { defineTool } from 'countersign/tools';

const base = {
  namespace: 'probe',
  version: '1.0.0',
  timeoutMs: 3000,
  access: { roles: ['agent'] },
};

export const readItems = defineTool({
  ...base,
  name: 'read_items',
  layer: 'read',
  title: 'Read items',
  description: 'Lists the items.',
  whenToUse: 'To see which items exist.',
  whenNotToUse: 'To change an item.',
  sideEffects: 'none',
  input: {
    type: 'object',
    properties: { limit: { type: 'integer', minimum: 1, maximum: 5, default: 3 } },
    additionalProperties: false,
  },
  output: { type: 'object', properties: { items: { type: 'array' } }, required: ['items'] },
  execution: { kind: 'http', method: 'GET', url: '${PROBE_URL}/items', pool: 'default' },
});

const write = {
  ...base,
  layer: 'write' as const,
  whenToUse: 'To store one item.',
  whenNotToUse: 'To read items.',
  risk: 'low' as const,
  sideEffects: 'reversible' as const,
  input: {
    type: 'object',
    properties: {
      item: { type: 'string', minLength: 1, maxLength: 100 },
      size: { type: 'string', enum: ['s', 'm', 'l'], default: 'm' },
    },
    required: ['item'],
    additionalProperties: false,
  },
  output: { type: 'object', properties: { id: { type: 'string' }, item: { type: 'string' } }, required: ['id'] },
  errors: [
    {
      when: 409,
      code: 'IDEMPOTENCY_CONFLICT' as const,
      noEffect: true,
      meaning: 'The key was used with other content.',
    },
  ],
  resources: ['item:{item}'],
  concurrency: 'per_resource' as const,
  noUndoReason: 'the sink keeps what it counted',
  result: { resourceId: '/id' },
};

export const writeItem = defineTool({
  ...write,
  name: 'write_item',
  title: 'Write an item',
  description: 'Stores one item; a repeat with the same key changes nothing.',
  approval: { mode: 'policy' },
  idempotency: { mode: 'key', template: '{task}', place: { header: 'Idempotency-Key' } },
  execution: { kind: 'http', method: 'POST', url: '${PROBE_URL}/items', pool: 'default' },
});

export const guardedWrite = defineTool({
  ...write,
  name: 'guarded_write',
  title: 'Write an item after approval',
  description: 'Stores one item once a person approved it.',
  approval: { mode: 'always' },
  idempotency: { mode: 'key', template: '{task}:guarded', place: { header: 'Idempotency-Key' } },
  execution: { kind: 'http', method: 'POST', url: '${PROBE_URL}/items', pool: 'default' },
});
