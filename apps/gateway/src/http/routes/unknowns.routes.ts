import { z } from 'zod';
import { callIdSchema } from '#contracts';
import { AUDIT_READERS, RESOLVERS } from '../../domain/caller.ts';
import * as query from '../../domain/queries.schema.ts';
import * as request from '../../domain/requests.schema.ts';
import * as response from '../../domain/responses.schema.ts';
import { idempotencyKey } from '../api.headers.ts';
import type { ApiRoute } from '../api-route.ts';
import { problems } from '../api.problems.ts';
import { json } from './route-parts.ts';

export const UNKNOWN_ROUTES: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/unknowns',
    operationId: 'listUnknowns',
    tag: 'calls',
    summary: 'Calls of the tenant whose outcome nobody knows: what only a person can find out first, then the oldest.',
    roles: AUDIT_READERS,
    query: query.unknownsQuerySchema,
    responses: { 200: json('A page.', response.page(response.unknownSchema)), ...problems('query') },
  },
  {
    method: 'POST',
    path: '/v1/calls/{id}/resolve',
    operationId: 'resolveCall',
    tag: 'calls',
    summary: 'Say, with evidence, what became of a call whose outcome is unknown.',
    roles: RESOLVERS,
    params: z.object({ id: callIdSchema }),
    body: { schema: request.resolveSchema, required: true },
    requestHeaders: [idempotencyKey],
    responses: {
      200: json('The call as it is then; `needs_human` while a second person must agree.', response.callViewSchema),
      ...problems('body', 'missing', 'conflict'),
    },
  },
];
