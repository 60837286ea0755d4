import { toolContractSchema, type ToolContract, type ToolContractInput } from '#contracts';

/** A publishable write; change what the test is about. */
export function sampleContract(change: Partial<ToolContractInput> = {}): ToolContract {
  return toolContractSchema.parse({
    namespace: 'desk',
    name: 'create_ticket',
    version: '1.0.0',
    layer: 'write',
    title: 'Create a ticket',
    description: 'Opens a ticket at the service desk.',
    whenToUse: 'When work needs a record.',
    whenNotToUse: 'For questions.',
    input: {
      type: 'object',
      properties: {
        severity: { type: 'string', enum: ['sev1', 'sev2', 'sev3'] },
        summary: { type: 'string', minLength: 1, maxLength: 200 },
        notify: { type: 'boolean', default: true },
        due: { type: 'string', format: 'date' },
      },
      required: ['severity', 'summary'],
      additionalProperties: false,
    },
    output: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    errors: [{ when: 409, code: 'TOOL_ERROR', meaning: 'The ticket exists already.', noEffect: true }],
    sideEffects: 'reversible',
    noUndoReason: 'Tickets are closed by people.',
    idempotency: { mode: 'key', template: '{task}:{tool}', place: { header: 'Idempotency-Key' } },
    execution: { kind: 'http', method: 'POST', url: '${DESK_URL}/tickets' },
    ...change,
  } satisfies ToolContractInput);
}
