import { z } from 'zod';
import { APPROVAL_ID_PATTERN } from '#kernel';
import { APPROVAL_READERS } from '../../domain/caller.ts';
import * as query from '../../domain/queries.schema.ts';
import * as request from '../../domain/requests.schema.ts';
import * as response from '../../domain/responses.schema.ts';
import { etag, idempotencyKey, ifMatch, ifNoneMatch } from '../api.headers.ts';
import type { ApiRoute } from '../api-route.ts';
import { problems } from '../api.problems.ts';
import { json, resource } from './route-parts.ts';

const approvalId = z.object({ id: z.string().regex(APPROVAL_ID_PATTERN) });

export const APPROVAL_ROUTES: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/approvals',
    operationId: 'listApprovals',
    tag: 'approvals',
    summary: 'Approvals of the tenant, oldest first.',
    roles: APPROVAL_READERS,
    query: query.approvalsQuerySchema,
    responses: { 200: json('A page.', response.page(response.approvalViewSchema)), ...problems('query') },
  },
  {
    method: 'GET',
    path: '/v1/approvals/{id}',
    operationId: 'getApproval',
    tag: 'approvals',
    summary: 'What would run, and what was decided.',
    roles: APPROVAL_READERS,
    params: approvalId,
    query: query.noQuerySchema,
    requestHeaders: [ifNoneMatch],
    responses: { ...resource('The approval.', response.approvalViewSchema), ...problems('query', 'missing') },
  },
  {
    method: 'POST',
    path: '/v1/approvals/{id}/decision',
    operationId: 'decideApproval',
    tag: 'approvals',
    summary:
      'Approve or reject exactly what the digest names, or propose other arguments: a new call, asked about anew.',
    roles: 'any',
    params: approvalId,
    body: { schema: request.answerSchema, required: true },
    requestHeaders: [idempotencyKey, ifMatch],
    responses: {
      200: json('The approval as it is then.', response.approvalViewSchema, [etag]),
      ...problems('body', 'missing', 'conflict', 'stale'),
    },
  },
  {
    method: 'POST',
    path: '/v1/approvals/{id}/withdraw',
    operationId: 'withdrawApproval',
    tag: 'approvals',
    summary: 'Take a request back, as the one who asked or an operator; its call ends as cancelled.',
    roles: 'any',
    params: approvalId,
    body: { schema: request.withdrawalSchema, required: false },
    requestHeaders: [idempotencyKey],
    responses: {
      200: json('The approval as it is then.', response.approvalViewSchema),
      ...problems('body', 'missing', 'conflict'),
    },
  },
];
