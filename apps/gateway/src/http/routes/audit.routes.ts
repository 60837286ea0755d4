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
    summary: 'Audit records of the tenant, in the order of its ledgers.',
    roles: AUDIT_READERS,
    query: query.auditQuerySchema,
    responses: { 200: json('A page.', response.page(response.auditRecordSchema)), ...problems('query') },
  },
  {
    method: 'GET',
    path: '/v1/audit/checkpoints',
    operationId: 'listCheckpoints',
    tag: 'audit',
    summary: "Signed heads of the tenant's ledger, by growing size.",
    roles: AUDIT_READERS,
    query: query.checkpointsQuerySchema,
    responses: { 200: json('A page.', response.page(response.checkpointSchema)), ...problems('query') },
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
