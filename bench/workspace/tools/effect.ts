import { defineTool } from 'countersign/tools';

/** The governed write of the bench: one HTTP effect with an operation key, allowed without a person. */
export const applyEffect = defineTool({
  namespace: 'bench',
  name: 'apply_effect',
  version: '1.0.0',
  layer: 'write',
  title: 'Apply an effect',
  description: 'Counts one effect for a key.',
  whenToUse: 'To measure a governed write.',
  whenNotToUse: 'For anything else.',
  sideEffects: 'reversible',
  risk: 'low',
  approval: { mode: 'policy' },
  input: {
    type: 'object',
    properties: { key: { type: 'string', minLength: 1, maxLength: 200 }, amount: { type: 'integer', minimum: 0 } },
    required: ['key', 'amount'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: { ok: { type: 'boolean' }, n: { type: 'integer' }, amount: { type: 'integer' } },
    required: ['ok', 'n'],
  },
  errors: [
    {
      when: 409,
      code: 'IDEMPOTENCY_CONFLICT' as const,
      noEffect: true,
      meaning: 'The key was used with other content.',
    },
  ],
  resources: ['effect:{key}'],
  concurrency: 'per_resource',
  idempotency: { mode: 'key', template: '{arg:key}', place: { header: 'Idempotency-Key' } },
  noUndoReason: 'a count cannot be taken back',
  execution: { kind: 'http', method: 'POST', url: '${BENCH_SINK_URL}/effect', pool: 'default' },
});
