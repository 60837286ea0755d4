import { defineTool } from 'countersign/tools';

/** Phase one: writes down what would be paid. No money moves, so policy lets it run without a person. */
export const draftRefund = defineTool({
  namespace: 'orders',
  name: 'draft_refund',
  version: '1.0.0',
  layer: 'draft',
  title: 'Draft a refund',
  description:
    'Writes down a refund of one order for execution later. Moves no money. Amounts are whole numbers of the smallest unit: 3000 EUR is 30.00 €.',
  whenToUse: 'When an order that was read in this run is to be refunded, in whole or in part.',
  whenNotToUse: 'To pay it out: that is execute_refund. Not for amounts above what can still be refunded.',
  input: {
    type: 'object',
    properties: {
      order_id: {
        type: 'string',
        description: 'Id of an order that was read in this run.',
        pattern: '^order-[0-9]{1,12}$',
      },
      amount_minor: {
        type: 'integer',
        description: 'Amount in the smallest unit of the currency.',
        minimum: 1,
        maximum: 100_000_000,
      },
      currency: { type: 'string', description: 'Currency of the order.', enum: ['EUR', 'CNY'] },
      reason: {
        type: 'string',
        description: 'Why, in one sentence; an approver reads it.',
        minLength: 1,
        maxLength: 300,
        pattern: '\\S',
      },
    },
    required: ['order_id', 'amount_minor', 'currency', 'reason'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      draft_id: { type: 'string' },
      order_id: { type: 'string' },
      amount_minor: { type: 'integer' },
      currency: { type: 'string' },
      reason: { type: 'string' },
      status: { type: 'string', enum: ['drafted', 'executed'] },
    },
    required: ['draft_id', 'order_id', 'amount_minor', 'currency', 'reason', 'status'],
    additionalProperties: false,
  },
  errors: [
    { when: 400, code: 'INVALID_ARGS', noEffect: true, meaning: 'The order service did not accept the fields.' },
    { when: 404, code: 'NOT_FOUND', noEffect: true, meaning: 'There is no such order.' },
    { when: 409, code: 'IDEMPOTENCY_CONFLICT', noEffect: true, meaning: 'The key was used before with other content.' },
    { when: 422, code: 'TOOL_ERROR', noEffect: true, meaning: 'The order does not allow this refund.' },
  ],
  sideEffects: 'reversible',
  risk: 'low',
  approval: { mode: 'policy', roles: ['approver'], forbidSelf: true },
  resources: ['order:{order_id}'],
  amountArgument: 'amount_minor',
  concurrency: 'per_resource',
  timeoutMs: 5_000,
  idempotency: {
    mode: 'key',
    template: '{task}:draft:{arg:order_id}:{arg:amount_minor}:{arg:currency}',
    place: { header: 'Idempotency-Key' },
  },
  noUndoReason: 'A draft has no effect until it is executed; drafts that nobody executes are left as a record.',
  evidenceArgument: 'order_id',
  result: { resourceId: '/draft_id' },
  execution: { kind: 'http', method: 'POST', url: '${ORDERS_URL}/drafts' },
});
