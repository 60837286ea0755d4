import type { JsonSchema } from '../../apps/gateway/src/openapi/schema-shelf.ts';

const digest = { type: 'string', pattern: '^sha256:[0-9a-f]{64}$' };

/** A record of the public topic, CloudEvents 1.0 in JSON; the spec holds real records of telemetry against it. */
export const AUDIT_EVENT: JsonSchema = {
  type: 'object',
  description:
    'A record has its `ledger` and `sequence`; a checkpoint stands beside the chains and has neither, but its data hold the signed heads.',
  properties: {
    specversion: { const: '1.0' },
    id: { type: 'string', description: 'The same record has the same id, however often it is sent.' },
    source: { type: 'string', description: '/countersign/tenants/<tenant>' },
    type: { type: 'string', pattern: '^dev\\.countersign\\.[a-z_.]+\\.v\\d+$' },
    subject: {
      type: 'string',
      description: 'The callId, else the runId, else the tenant; the tenant for a checkpoint.',
    },
    time: { type: 'string', format: 'date-time' },
    datacontenttype: { const: 'application/json' },
    ledger: {
      type: 'string',
      description: 'Name of the chain that the record is in: <tenant>/<partition of the topic>.',
    },
    sequence: { type: 'string', pattern: '^[1-9]\\d*$', description: 'Place in the ledger, without gaps from 1.' },
    previousdigest: { ...digest, description: 'Digest of the record before it, over its bytes; absent in the first.' },
    data: {
      type: 'object',
      description: 'Ids, codes, digests, counts and durations: no arguments, no results.',
      properties: {
        schema_version: { type: 'integer', minimum: 1 },
        tenant: { type: 'string' },
        run_id: { type: 'string' },
        call_id: { type: ['string', 'null'] },
      },
      required: ['schema_version', 'tenant'],
    },
  },
  required: ['specversion', 'id', 'source', 'type', 'subject', 'time', 'datacontenttype', 'data'],
};
