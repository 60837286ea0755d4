import { defineTool } from 'countersign/tools';

/** A read over HTTP. Each hit tells its source and lines, so that a claim can be cited and checked. */
export const searchDocuments = defineTool({
  namespace: 'research',
  name: 'search_documents',
  version: '1.0.0',
  layer: 'read',
  title: 'Search the documents',
  description:
    'Full-text search over the team’s documents, in English and Chinese, best passage first. A query finds text in its own language only.',
  whenToUse: 'To find what the documents say about a question. Search in each language that may hold an answer.',
  whenNotToUse: 'For general knowledge, or for drafts: only the documents of the folder are searched.',
  input: {
    type: 'object',
    properties: {
      query: {
        type: 'string',
        description: 'Words to look for, such as "street trees shade" or "行道树 遮荫".',
        minLength: 1,
        maxLength: 200,
        pattern: '\\S',
      },
      limit: { type: 'integer', description: 'At most so many passages.', minimum: 1, maximum: 5, default: 3 },
    },
    required: ['query'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      hits: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            source: { type: 'string', description: 'File of the passage.' },
            title: { type: 'string' },
            position: {
              type: 'object',
              description: 'Lines of the file, counted from 1.',
              properties: { from_line: { type: 'integer' }, to_line: { type: 'integer' } },
              required: ['from_line', 'to_line'],
              additionalProperties: false,
            },
            text: { type: 'string' },
          },
          required: ['source', 'title', 'position', 'text'],
          additionalProperties: false,
        },
      },
    },
    required: ['hits'],
    additionalProperties: false,
  },
  errors: [{ when: 400, code: 'INVALID_ARGS', noEffect: true, meaning: 'The query or the limit was not accepted.' }],
  sideEffects: 'none',
  approval: { mode: 'policy' },
  timeoutMs: 5_000,
  retry: { attempts: 3, backoffMs: 100, capMs: 1_000 },
  result: { maxItems: 5, sourceIds: '/hits/*/source' },
  execution: { kind: 'http', method: 'GET', url: '${RESEARCH_URL}/search' },
});
