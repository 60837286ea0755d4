import * as response from '../../domain/responses.schema.ts';
import type { ApiRoute } from '../api-route.ts';
import { problems } from '../api.problems.ts';
import { json } from './route-parts.ts';

export const SERVICE_ROUTES: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/version',
    operationId: 'getVersion',
    tag: 'service',
    summary: 'What answers here.',
    roles: 'public',
    responses: { 200: json('Name and version.', response.versionSchema), ...problems() },
  },
  {
    method: 'GET',
    path: '/openapi.json',
    operationId: 'getOpenApi',
    tag: 'service',
    summary: 'This description.',
    roles: 'public',
    responses: { 200: json('OpenAPI 3.1.', response.openApiSchema), ...problems() },
  },
];
