import { AUDIT_READERS } from '../../domain/caller.ts';
import { noQuerySchema } from '../../domain/queries.schema.ts';
import { usageSchema } from '../../domain/usage.schema.ts';
import type { ApiRoute } from '../api-route.ts';
import { problems } from '../api.problems.ts';
import { json } from './route-parts.ts';

export const USAGE_ROUTES: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/usage',
    operationId: 'getUsage',
    tag: 'usage',
    summary: 'What all runs of the tenant have used of its limits, today and this month.',
    roles: AUDIT_READERS,
    query: noQuerySchema,
    responses: { 200: json('The limits and their use.', usageSchema), ...problems('query') },
  },
];
