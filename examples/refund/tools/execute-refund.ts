import { defineTool } from 'countersign/tools';

/**
 * Phase two: the money moves. The amount stands in the draft, not in the arguments; what policy judges is `up_to`, the most
 * that this call may pay. It is bound to the call like every argument, and the order service refuses a draft that is above it,
 * so a caller gains nothing by stating less than the draft needs. Which limits need a person stands in the policy.
 */
export const executeRefund = defineTool({
  namespace: 'orders',
  name: 'execute_refund',
  version: '1.0.0',
  layer: 'execute',
  title: 'Execute a refund',
  description: 'Pays out one drafted refund to the customer, if it is not above the limit. Cannot be taken back.',
  whenToUse: 'When a refund was drafted in this task and its amount and order are right.',
  whenNotToUse: 'Before the draft was made, or a second time for the same draft.',
  input: {
    type: 'object',
    properties: {
      draft_id: { type: 'string', description: 'Id that draft_refund returned.', pattern: '^draft-[0-9]{1,12}$' },
      up_to: {
        type: 'string',
        description:
          'The most that may be paid; take the lowest limit that covers the draft, in its currency. Higher limits need a person.',
        enum: ['EUR 50.00', 'EUR 500.00', 'EUR 5000.00', 'CNY 400.00', 'CNY 4000.00', 'CNY 40000.00'],
        default: 'EUR 50.00',
      },
    },
    required: ['draft_id'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      refund_id: { type: 'string' },
      draft_id: { type: 'string' },
      order_id: { type: 'string' },
      amount_minor: { type: 'integer' },
      currency: { type: 'string' },
      executed_at: { type: 'string', format: 'date-time' },
    },
    required: ['refund_id', 'draft_id', 'order_id', 'amount_minor', 'currency', 'executed_at'],
    additionalProperties: false,
  },
  errors: [
    { when: 'already_executed', code: 'TOOL_ERROR', noEffect: true, meaning: 'This draft was executed before.' },
    {
      when: 'key_conflict',
      code: 'IDEMPOTENCY_CONFLICT',
      noEffect: true,
      meaning: 'The key was used for other content.',
    },
    { when: 400, code: 'INVALID_ARGS', noEffect: true, meaning: 'The order service did not accept the fields.' },
    { when: 404, code: 'NOT_FOUND', noEffect: true, meaning: 'There is no such draft.' },
    { when: 422, code: 'TOOL_ERROR', noEffect: true, meaning: 'The draft is above the limit, or above what was paid.' },
  ],
  sideEffects: 'money',
  risk: 'medium',
  approval: { mode: 'policy', roles: ['approver'], forbidSelf: true, ttlMs: 3_600_000 },
  resources: ['refund_draft:{draft_id}', 'refund_limit:{up_to}'],
  timeoutMs: 5_000,
  idempotency: {
    mode: 'key',
    template: '{task}:execute:{arg:draft_id}:{arg:up_to}',
    place: { header: 'Idempotency-Key' },
  },
  noUndoReason: 'Money that was paid out comes back only by an agreement with the customer.',
  result: { resourceId: '/refund_id' },
  execution: { kind: 'http', method: 'POST', url: '${ORDERS_URL}/refunds' },
});
