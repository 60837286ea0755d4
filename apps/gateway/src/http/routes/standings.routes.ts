import { z } from 'zod';
import { STANDING_ID_PATTERN } from '#kernel';
import { APPROVAL_READERS } from '../../domain/caller.ts';
import * as query from '../../domain/queries.schema.ts';
import * as request from '../../domain/requests.schema.ts';
import * as response from '../../domain/responses.schema.ts';
import { idempotencyKey } from '../api.headers.ts';
import type { ApiRoute } from '../api-route.ts';
import { problems } from '../api.problems.ts';
import { json } from './route-parts.ts';

const standingId = z.object({ id: z.string().regex(STANDING_ID_PATTERN) });

export const STANDING_ROUTES: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/standing-grants',
    operationId: 'listStandingGrants',
    tag: 'approvals',
    summary: 'What is allowed in advance, oldest first, with what was used of it.',
    roles: APPROVAL_READERS,
    query: query.standingsQuerySchema,
    responses: { 200: json('A page.', response.page(response.standingViewSchema)), ...problems('query') },
  },
  {
    method: 'GET',
    path: '/v1/standing-grants/{id}',
    operationId: 'getStandingGrant',
    tag: 'approvals',
    summary: 'One of them.',
    roles: APPROVAL_READERS,
    params: standingId,
    query: query.noQuerySchema,
    responses: { 200: json('The standing grant.', response.standingViewSchema), ...problems('query', 'missing') },
  },
  {
    method: 'POST',
    path: '/v1/standing-grants',
    operationId: 'grantStanding',
    tag: 'approvals',
    summary: 'Allow so many calls of a tool in advance, within bounds; needs an approver role of the tool.',
    roles: 'any',
    body: { schema: request.standingRequestSchema, required: true },
    requestHeaders: [idempotencyKey],
    responses: {
      201: json('The standing grant.', response.standingViewSchema),
      ...problems('body', 'conflict'),
    },
  },
  {
    method: 'POST',
    path: '/v1/standing-grants/{id}/revoke',
    operationId: 'revokeStanding',
    tag: 'approvals',
    summary: 'From now on it answers for no call.',
    roles: 'any',
    params: standingId,
    body: { schema: request.emptySchema, required: false },
    requestHeaders: [idempotencyKey],
    responses: {
      200: json('The standing grant as it is then.', response.standingViewSchema),
      ...problems('body', 'missing', 'conflict'),
    },
  },
];
