import { z } from 'zod';
import * as query from '../../domain/queries.schema.ts';
import * as response from '../../domain/responses.schema.ts';
import { ifNoneMatch } from '../api.headers.ts';
import type { ApiRoute } from '../api-route.ts';
import { problems } from '../api.problems.ts';
import { resource } from './route-parts.ts';

const tool = z.object({ name: z.string().describe('ns.name (the live version) or ns.name@version') });

export const TOOL_ROUTES: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/tools',
    operationId: 'listTools',
    tag: 'tools',
    summary: 'The tools that are live for the caller.',
    roles: 'any',
    query: query.noQuerySchema,
    requestHeaders: [ifNoneMatch],
    responses: { ...resource('All of them.', response.page(response.toolViewSchema)), ...problems('query') },
  },
  {
    method: 'GET',
    path: '/v1/tools/{name}',
    operationId: 'getTool',
    tag: 'tools',
    summary: 'The contract of a tool, and its digest.',
    roles: 'any',
    params: tool,
    query: query.noQuerySchema,
    requestHeaders: [ifNoneMatch],
    responses: { ...resource('The tool.', response.toolContractViewSchema), ...problems('query', 'missing') },
  },
];
