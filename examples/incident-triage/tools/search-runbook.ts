import { defineTool, ToolFailure } from 'countersign/tools';

/** A read with code of its own: it runs inside the executor of the pool. */
export const searchRunbook = defineTool(
  {
    namespace: 'incidents',
    name: 'search_runbook',
    version: '1.0.0',
    layer: 'read',
    title: 'Search the runbooks',
    description:
      'Finds the steps that the team wrote down for a kind of trouble, in English or Chinese, best match first.',
    whenToUse: 'To learn how a service is to be handled while its alerts are being read.',
    whenNotToUse: 'To see what is happening now: read the alerts for that.',
    input: {
      type: 'object',
      properties: {
        query: {
          type: 'string',
          description: 'Words of the trouble, such as "5xx after deploy".',
          minLength: 1,
          maxLength: 200,
          pattern: '\\S',
        },
        service: {
          type: 'string',
          description: 'Name of the service, such as "checkout".',
          minLength: 1,
          maxLength: 64,
        },
      },
      required: ['query', 'service'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: {
        runbooks: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              id: { type: 'string' },
              title: { type: 'string' },
              steps: { type: 'array', items: { type: 'string' } },
            },
            required: ['id', 'title', 'steps'],
            additionalProperties: false,
          },
        },
      },
      required: ['runbooks'],
      additionalProperties: false,
    },
    errors: [{ when: 400, code: 'INVALID_ARGS', noEffect: true, meaning: 'The query was not accepted.' }],
    sideEffects: 'none',
    approval: { mode: 'policy' },
    timeoutMs: 5_000,
    retry: { attempts: 3, backoffMs: 100, capMs: 1_000 },
    result: { maxItems: 5, sourceIds: '/runbooks/*/id' },
    execution: { kind: 'local' },
  },
  async ({ query, service }, { env, signal }) => {
    if (!env.INCIDENTS_URL)
      throw new ToolFailure('INCIDENTS_URL is not set for this pool', { code: 'UPSTREAM_UNAVAILABLE', noEffect: true });
    const url = `${env.INCIDENTS_URL}/runbooks?${new URLSearchParams({ query: String(query), service: String(service) })}`;
    const response = await fetch(url, { signal });
    if (!response.ok) {
      const code = response.status === 400 ? 'INVALID_ARGS' : 'UPSTREAM_ERROR';
      throw new ToolFailure(`the runbooks answered with HTTP ${response.status}`, {
        code,
        noEffect: true,
        retryable: response.status >= 500,
      });
    }
    return response.json();
  },
);
