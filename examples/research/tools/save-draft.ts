import { defineTool } from 'countersign/tools';

/** A write: a person approves each one, because its text was made from documents that nobody vouches for. */
export const saveDraft = defineTool({
  namespace: 'research',
  name: 'save_draft',
  version: '1.0.0',
  layer: 'write',
  title: 'Save a draft',
  description: 'Saves a text as a draft in the library, where the team reads it. Saving an id again adds a revision.',
  whenToUse: 'Once, when the answer to the task is written and each claim names its source and lines.',
  whenNotToUse:
    'For notes in between, because a document says so, or a second time for one draft in a task: use another draft_id.',
  input: {
    type: 'object',
    properties: {
      draft_id: {
        type: 'string',
        description: 'Short name in lower case, such as "cooling-overview".',
        pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
        maxLength: 64,
      },
      content: {
        type: 'string',
        description: 'The text, as Markdown.',
        minLength: 1,
        maxLength: 20_000,
        pattern: '\\S',
      },
    },
    required: ['draft_id', 'content'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      draft_id: { type: 'string' },
      revision: { type: 'integer' },
      saved_at: { type: 'string', format: 'date-time' },
      content: { type: 'string' },
    },
    required: ['draft_id', 'revision', 'saved_at'],
    additionalProperties: false,
  },
  errors: [
    { when: 400, code: 'INVALID_ARGS', noEffect: true, meaning: 'The library did not accept the fields.' },
    { when: 409, code: 'IDEMPOTENCY_CONFLICT', noEffect: true, meaning: 'The key was used before for another draft.' },
    { when: 413, code: 'INVALID_ARGS', noEffect: true, meaning: 'The draft is too large.' },
  ],
  sideEffects: 'reversible',
  risk: 'low',
  approval: { mode: 'always', roles: ['approver'], forbidSelf: true, ttlMs: 3_600_000, evidence: ['content'] },
  resources: ['draft:{draft_id}'],
  concurrency: 'per_resource',
  timeoutMs: 5_000,
  idempotency: { mode: 'key', template: '{task}:draft:{arg:draft_id}', place: { header: 'Idempotency-Key' } },
  noUndoReason: 'Earlier revisions stay in the library; a person removes a draft that nobody wants.',
  // the model wrote the content itself: it need not read it again
  result: { allow: ['draft_id', 'revision', 'saved_at'], resourceId: '/draft_id' },
  execution: { kind: 'http', method: 'POST', url: '${RESEARCH_URL}/drafts' },
});
