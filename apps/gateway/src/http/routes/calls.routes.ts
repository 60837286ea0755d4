import { z } from 'zod';
import { callIdSchema } from '#contracts';
import { READERS, ROLES } from '../../domain/caller.ts';
import * as query from '../../domain/queries.schema.ts';
import * as request from '../../domain/requests.schema.ts';
import * as response from '../../domain/responses.schema.ts';
import { ifNoneMatch, location } from '../api.headers.ts';
import type { ApiRoute } from '../api-route.ts';
import { problems } from '../api.problems.ts';
import { command, json, resource } from './route-parts.ts';

const callId = z.object({ id: callIdSchema });

export const CALL_ROUTES: readonly ApiRoute[] = [
  {
    method: 'POST',
    path: '/v1/calls',
    operationId: 'call',
    tag: 'calls',
    summary: 'One governed call.',
    roles: [ROLES.agent],
    body: { schema: request.directCallSchema, required: true },
    requestHeaders: command,
    responses: {
      200: json('Settled within the wait: succeeded or not.', response.callResultSchema),
      202: json('Accepted.', response.acceptedCallSchema, [location]),
      ...problems('body', 'key', 'conflict'),
    },
  },
  {
    method: 'GET',
    path: '/v1/calls',
    operationId: 'listCalls',
    tag: 'calls',
    summary: "The caller's calls (all of the tenant for operators and auditors), newest first, without results.",
    roles: READERS,
    query: query.callsQuerySchema,
    responses: { 200: json('A page.', response.page(response.listedCallSchema)), ...problems('query') },
  },
  {
    method: 'GET',
    path: '/v1/calls/{id}',
    operationId: 'getCall',
    tag: 'calls',
    summary: 'A call with its result.',
    roles: READERS,
    params: callId,
    query: query.noQuerySchema,
    requestHeaders: [ifNoneMatch],
    responses: { ...resource('The call.', response.callViewSchema), ...problems('query', 'missing') },
  },
  {
    method: 'GET',
    path: '/v1/calls/{id}/history',
    operationId: 'getCallHistory',
    tag: 'calls',
    summary: 'The life of a call in order, with times, as the audit has it: it follows the call by a moment.',
    roles: READERS,
    params: callId,
    query: query.noQuerySchema,
    responses: { 200: json('What happened.', response.callHistorySchema), ...problems('query', 'missing') },
  },
];
