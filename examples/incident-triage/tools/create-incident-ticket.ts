import { defineTool } from 'countersign/tools';

/**
 * A write: a person approves each one, the ticket service gets an operation key, so that a repeat after a crash
 * finds the ticket instead of opening a second one, and the evidence must come from what this run has read.
 */
export const createIncidentTicket = defineTool({
  namespace: 'incidents',
  name: 'create_incident_ticket',
  version: '1.0.0',
  layer: 'write',
  title: 'Create an incident ticket',
  description: 'Opens one incident ticket and pages the people on duty for its severity.',
  whenToUse: 'When alerts and runbooks show an incident that people must handle now.',
  whenNotToUse: 'Without evidence from this run, for a question, or when a ticket was already opened in this task.',
  input: {
    type: 'object',
    properties: {
      severity: {
        type: 'string',
        description: 'sev1: customers cannot use the service; sev2: degraded; sev3: no customer sees it.',
        enum: ['sev1', 'sev2', 'sev3'],
      },
      summary: {
        type: 'string',
        description: 'One or two sentences: what is broken, since when, first step.',
        minLength: 1,
        maxLength: 500,
        pattern: '\\S',
      },
      evidence_ids: {
        type: 'array',
        description: 'Ids of the alerts and runbooks that show it.',
        items: { type: 'string', minLength: 1, maxLength: 64 },
        minItems: 1,
        maxItems: 20,
        uniqueItems: true,
      },
    },
    required: ['severity', 'summary', 'evidence_ids'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      id: { type: 'string' },
      status: { type: 'string', enum: ['open'] },
      severity: { type: 'string', enum: ['sev1', 'sev2', 'sev3'] },
      summary: { type: 'string' },
      evidence_ids: { type: 'array', items: { type: 'string' } },
      created_at: { type: 'string', format: 'date-time' },
    },
    required: ['id', 'status', 'severity', 'summary', 'evidence_ids', 'created_at'],
    additionalProperties: false,
  },
  errors: [
    { when: 400, code: 'INVALID_ARGS', noEffect: true, meaning: 'The ticket service did not accept the fields.' },
    { when: 409, code: 'IDEMPOTENCY_CONFLICT', noEffect: true, meaning: 'The key was used before with other content.' },
    { when: 413, code: 'INVALID_ARGS', noEffect: true, meaning: 'The ticket is too large.' },
  ],
  sideEffects: 'external_message',
  risk: 'medium',
  approval: { mode: 'always', roles: ['approver'], forbidSelf: true, ttlMs: 3_600_000, evidence: ['evidence_ids'] },
  resources: ['incident_queue:{severity}'],
  concurrency: 'per_resource',
  timeoutMs: 5_000,
  idempotency: { mode: 'key', template: '{task}:ticket', place: { header: 'Idempotency-Key' } },
  noUndoReason: 'People were paged; they close the ticket in the tracker themselves.',
  evidenceArgument: 'evidence_ids',
  result: { resourceId: '/id' },
  execution: { kind: 'http', method: 'POST', url: '${INCIDENTS_URL}/tickets' },
});
