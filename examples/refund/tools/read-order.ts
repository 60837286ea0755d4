import { defineTool } from 'countersign/tools';

/** A read: what was paid, and what of it can still be refunded. */
export const readOrder = defineTool({
  namespace: 'orders',
  name: 'read_order',
  version: '1.0.0',
  layer: 'read',
  title: 'Read an order',
  description: 'Reads one order: what was paid, its state, and how much of it can still be refunded.',
  whenToUse: 'Before a refund is drafted.',
  whenNotToUse: 'To search for orders of a customer: the id of the order must be known.',
  input: {
    type: 'object',
    properties: {
      order_id: { type: 'string', description: 'Id such as "order-1042".', pattern: '^order-[0-9]{1,12}$' },
    },
    required: ['order_id'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      id: { type: 'string' },
      status: { type: 'string', enum: ['delivered', 'in_transit', 'returned'] },
      currency: { type: 'string' },
      paid_minor: { type: 'integer' },
      refundable_minor: { type: 'integer' },
      items: { type: 'array', items: { type: 'string' } },
      customer: { type: 'string' },
    },
    required: ['id', 'status', 'currency', 'paid_minor', 'refundable_minor', 'items'],
    additionalProperties: false,
  },
  errors: [{ when: 404, code: 'NOT_FOUND', noEffect: true, meaning: 'There is no such order.' }],
  sideEffects: 'none',
  approval: { mode: 'policy' },
  resources: ['order:{order_id}'],
  timeoutMs: 5_000,
  retry: { attempts: 3, backoffMs: 100, capMs: 1_000 },
  // a model needs no name of a customer to decide about a refund
  result: { redact: ['/customer'], sourceIds: '/id' },
  execution: { kind: 'http', method: 'GET', url: '${ORDERS_URL}/orders/{order_id}' },
});
