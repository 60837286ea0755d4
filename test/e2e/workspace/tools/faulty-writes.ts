import { defineTool } from 'countersign/tools';

const write = {
  namespace: 'probe',
  version: '1.0.0',
  layer: 'write' as const,
  whenToUse: 'To store one item.',
  whenNotToUse: 'To read items.',
  access: { roles: ['agent'] },
  timeoutMs: 3000,
  risk: 'low' as const,
  sideEffects: 'reversible' as const,
  input: {
    type: 'object',
    properties: { item: { type: 'string', minLength: 1, maxLength: 100 } },
    required: ['item'],
    additionalProperties: false,
  },
  output: { type: 'object', properties: { id: { type: 'string' }, item: { type: 'string' } }, required: ['id'] },
  errors: [{ when: 422, code: 'TOOL_ERROR' as const, noEffect: true, meaning: 'The sink refuses the item.' }],
  resources: ['item:{item}'],
  concurrency: 'per_resource' as const,
  noUndoReason: 'the sink keeps what it counted',
  result: { resourceId: '/id' },
  approval: { mode: 'policy' as const },
  execution: { kind: 'http' as const, method: 'POST' as const, url: '${PROBE_URL}/items', pool: 'default' },
};
/** One effect for each item of a task. */
const perItem = { mode: 'key' as const, template: '{task}:{arg:item}', place: { header: 'Idempotency-Key' } };
/** Long enough for an answer on a busy machine; what hangs costs this much. */
const PATIENCE_MS = 1500;

export const storeItem = defineTool({
  ...write,
  name: 'store_item',
  title: 'Store an item',
  description: 'Stores one item; each item of a task once.',
  idempotency: perItem,
});

export const slowItem = defineTool({
  ...write,
  name: 'slow_item',
  title: 'Store an item in a slow store',
  description: 'Stores one item; a repeat with the same key changes nothing.',
  timeoutMs: PATIENCE_MS,
  idempotency: perItem,
});

export const slowItemOnce = defineTool({
  ...write,
  name: 'slow_item_once',
  title: 'Store an item in a store that cannot be asked twice',
  description: 'Stores one item; a repeat would store it again.',
  timeoutMs: PATIENCE_MS,
  idempotency: { mode: 'none' },
});

export const probedItem = defineTool({
  ...write,
  name: 'probed_item',
  title: 'Store an item in a store that can be asked about it',
  description: 'Stores one item; a repeat would store it again, but the store tells whether it has it.',
  timeoutMs: PATIENCE_MS,
  idempotency: { mode: 'none' },
  reconcile: {
    http: {
      url: '${PROBE_URL}/applied/{item}',
      applied: { pointer: '/applied', values: [true] },
      notApplied: { pointer: '/applied', values: [false] },
    },
  },
});

export const publishItem = defineTool({
  ...write,
  name: 'publish_item',
  title: 'Publish an item',
  description: 'Publishes one item.',
  access: { roles: ['publisher'] },
  idempotency: perItem,
});

export const purgeItems = defineTool({
  ...write,
  name: 'purge_items',
  title: 'Purge items',
  description: 'Purges an item; policy forbids it to everyone.',
  idempotency: perItem,
});
