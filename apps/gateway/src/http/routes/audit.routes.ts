import { AUDIT_READERS } from '../../domain/caller.ts';
import * as query from '../../domain/queries.schema.ts';
import * as response from '../../domain/responses.schema.ts';
import type { ApiRoute } from '../api-route.ts';
import { problems } from '../api.problems.ts';
import { json } from './route-parts.ts';

export const AUDIT_ROUTES: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/audit',
    operationId: 'listAudit',
    tag: 'audit',
    summary: 'Audit records of the tenant, ledger by ledger, each in its order.',
    roles: AUDIT_READERS,
    query: query.auditQuerySchema,
    responses: { 200: json('A page.', response.page(response.auditRecordSchema)), ...problems('query') },
  },
  {
    method: 'GET',
    path: '/v1/audit/checkpoints',
    operationId: 'listCheckpoints',
    tag: 'audit',
    summary: "Signed heads of the tenant's ledgers, by growing size.",
    roles: AUDIT_READERS,
    query: query.checkpointsQuerySchema,
    responses: { 200: json('A page.', response.page(response.checkpointSchema)), ...problems('query') },
  },
  {
    method: 'GET',
    path: '/v1/audit/proof',
    operationId: 'proveAudit',
    tag: 'audit',
    summary: 'Proof that a record is in its ledger, or that a ledger only grew, against the newest checkpoint.',
    roles: AUDIT_READERS,
    query: query.proofQuerySchema,
    responses: { 200: json('The proof.', response.auditProofSchema), ...problems('query', 'missing') },
  },
  {
    method: 'GET',
    path: '/v1/audit/schemas',
    operationId: 'getAuditSchemas',
    tag: 'audit',
    summary: "JSON Schemas of the records' data, by the type of the record.",
    roles: AUDIT_READERS,
    query: query.noQuerySchema,
    responses: { 200: json('The schemas.', response.auditSchemasSchema), ...problems('query') },
  },
  {
    method: 'GET',
    path: '/v1/audit/keys',
    operationId: 'getAuditKeys',
    tag: 'audit',
    summary: 'The public keys of the checkpoints, as a JSON Web Key Set.',
    roles: AUDIT_READERS,
    query: query.noQuerySchema,
    responses: { 200: json('The key set.', response.keySetSchema), ...problems('query') },
  },
];
