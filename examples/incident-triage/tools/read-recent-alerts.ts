import { defineTool } from 'countersign/tools';

/** A read over HTTP: no code, only a contract. `${INCIDENTS_URL}` is a setting of the executor. */
export const readRecentAlerts = defineTool({
  namespace: 'incidents',
  name: 'read_recent_alerts',
  version: '1.0.0',
  layer: 'read',
  title: 'Read recent alerts',
  description: 'Lists the alerts of one service that fired within a time window, newest first.',
  whenToUse: 'At the start of a triage, to see what is happening to a service now.',
  whenNotToUse:
    'For the history of past incidents, or to learn what to do about an alert: search the runbooks for that.',
  input: {
    type: 'object',
    properties: {
      service: { type: 'string', description: 'Name of the service, such as "checkout".', minLength: 1, maxLength: 64 },
      window_minutes: { type: 'integer', description: 'How far to look back, in minutes.', minimum: 1, maximum: 1440 },
    },
    required: ['service', 'window_minutes'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      alerts: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            id: { type: 'string' },
            service: { type: 'string' },
            level: { type: 'string', enum: ['critical', 'warning', 'info'] },
            title: { type: 'string' },
            fired_at: { type: 'string', format: 'date-time' },
          },
          required: ['id', 'service', 'level', 'title', 'fired_at'],
          additionalProperties: false,
        },
      },
    },
    required: ['alerts'],
    additionalProperties: false,
  },
  errors: [{ when: 400, code: 'INVALID_ARGS', noEffect: true, meaning: 'The service or the window was not accepted.' }],
  sideEffects: 'none',
  approval: { mode: 'policy' },
  timeoutMs: 5_000,
  retry: { attempts: 3, backoffMs: 100, capMs: 1_000 },
  result: { maxItems: 20, sourceIds: '/alerts/*/id' },
  execution: { kind: 'http', method: 'GET', url: '${INCIDENTS_URL}/alerts' },
});
