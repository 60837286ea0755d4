import { z } from 'zod';
import { PUBLISHERS, TOOL_HISTORIANS, TOOL_KEEPERS } from '../../domain/caller.ts';
import * as query from '../../domain/queries.schema.ts';
import * as request from '../../domain/requests.schema.ts';
import * as response from '../../domain/responses.schema.ts';
import { etag, ifNoneMatch } from '../api.headers.ts';
import type { ApiRoute } from '../api-route.ts';
import { problems } from '../api.problems.ts';
import { json, resource } from './route-parts.ts';

const named = z.object({ name: z.string().describe('ns.name (all versions) or ns.name@version') });
const standing = (operationId: string, verb: string, summary: string, roles: readonly string[]): ApiRoute => ({
  method: 'POST',
  path: `/v1/tools/{name}/${verb}`,
  operationId,
  tag: 'tools',
  summary,
  roles,
  params: named,
  body: { schema: request.standingSchema, required: true },
  responses: { 200: json('How it stands now.', response.toolStandingSchema), ...problems('body', 'missing') },
});

export const TOOL_PUBLISHING_ROUTES: readonly ApiRoute[] = [
  {
    method: 'PUT',
    path: '/v1/tools/{namespace}/{name}/{version}',
    operationId: 'publishTool',
    tag: 'tools',
    summary: 'Publishes a version of a tool. A published version never changes; the same again is no change.',
    roles: PUBLISHERS,
    params: z.object({ namespace: z.string(), name: z.string(), version: z.string().describe('such as 1.0.0') }),
    requestHeaders: [{ ...ifNoneMatch, description: '* = only if the version is not there.' }],
    body: { schema: request.contractSchema, required: true },
    responses: {
      200: json('It stood there already.', response.publishedToolSchema, [etag]),
      201: json('It is published.', response.publishedToolSchema, [etag]),
      202: json('It waits for a reviewer.', response.publishedToolSchema, [etag]),
      ...problems('body', 'conflict', 'exists'),
    },
  },
  {
    method: 'GET',
    path: '/v1/tools/{name}/diff',
    operationId: 'diffTool',
    tag: 'tools',
    summary: 'What a version changes for those who use, judge and pay for the tool.',
    roles: 'any',
    params: z.object({ name: z.string().describe('ns.name@version, or ns.name for the live version') }),
    query: query.diffQuerySchema,
    requestHeaders: [ifNoneMatch],
    responses: { ...resource('The changes.', response.toolDiffSchema), ...problems('query', 'missing') },
  },
  {
    method: 'GET',
    path: '/v1/tools/{name}/changes',
    operationId: 'listToolChanges',
    tag: 'tools',
    summary:
      'What became of a tool: who published, reviewed, stopped or released which content, and why. Newest first.',
    roles: TOOL_HISTORIANS,
    params: named,
    query: query.toolChangesQuerySchema,
    responses: { 200: json('A page.', response.page(response.toolChangeSchema)), ...problems('query', 'missing') },
  },
  standing(
    'quarantineTool',
    'quarantine',
    'Takes a tool out of use at once: it is not listed, resolved, granted or sent until it is released.',
    TOOL_KEEPERS,
  ),
  standing('deprecateTool', 'deprecate', 'Says that people should move away from it; it goes on working.', PUBLISHERS),
  standing('releaseTool', 'release', 'Ends a quarantine or deprecation.', PUBLISHERS),
  {
    method: 'GET',
    path: '/v1/tool-reviews',
    operationId: 'listToolReviews',
    tag: 'tools',
    summary: 'The versions that wait for a reviewer, each with what it changes.',
    roles: PUBLISHERS,
    query: query.noQuerySchema,
    responses: { 200: json('All of them.', response.page(response.toolReviewSchema)), ...problems('query') },
  },
  {
    method: 'POST',
    path: '/v1/tool-reviews/{name}',
    operationId: 'reviewTool',
    tag: 'tools',
    summary: 'Approves a version, which publishes it, or rejects it. Nobody reviews what is their own.',
    roles: PUBLISHERS,
    params: z.object({ name: z.string().describe('ns.name@version') }),
    body: { schema: request.reviewSchema, required: true },
    responses: {
      200: json('What became of it.', response.reviewedToolSchema),
      ...problems('body', 'missing', 'conflict'),
    },
  },
];
