import { z } from 'zod';
import { runIdSchema } from '#contracts';
import { READERS, ROLES, RUN_KEEPERS } from '../../domain/caller.ts';
import * as query from '../../domain/queries.schema.ts';
import * as request from '../../domain/requests.schema.ts';
import * as response from '../../domain/responses.schema.ts';
import { ifNoneMatch, lastEventId, location } from '../api.headers.ts';
import type { ApiRoute } from '../api-route.ts';
import { problems } from '../api.problems.ts';
import { command, json, resource } from './route-parts.ts';

const runId = z.object({ id: runIdSchema });

export const RUN_ROUTES: readonly ApiRoute[] = [
  {
    method: 'POST',
    path: '/v1/runs',
    operationId: 'startRun',
    tag: 'runs',
    summary: 'Start a run of an agent, or one that the client drives.',
    roles: [ROLES.agent],
    body: { schema: z.union([request.agentRunSchema, request.clientRunSchema]), required: true },
    requestHeaders: command,
    responses: {
      200: json('Ended within the wait.', response.runViewSchema),
      202: json('Accepted.', response.acceptedRunSchema, [location]),
      ...problems('body', 'key', 'missing', 'conflict'),
    },
  },
  {
    method: 'GET',
    path: '/v1/runs',
    operationId: 'listRuns',
    tag: 'runs',
    summary: "The caller's runs (all of the tenant for operators and auditors), newest first.",
    roles: READERS,
    query: query.runsQuerySchema,
    responses: { 200: json('A page.', response.page(response.runViewSchema)), ...problems('query') },
  },
  {
    method: 'GET',
    path: '/v1/runs/{id}',
    operationId: 'getRun',
    tag: 'runs',
    summary: 'A run with its calls and what it changed.',
    roles: READERS,
    params: runId,
    query: query.noQuerySchema,
    requestHeaders: [ifNoneMatch],
    responses: { ...resource('The run.', response.runViewSchema), ...problems('query', 'missing') },
  },
  {
    method: 'GET',
    path: '/v1/runs/{id}/events',
    operationId: 'watchRun',
    tag: 'runs',
    summary: 'What happens in a run, as it happens; ends after run.ended.',
    roles: READERS,
    params: runId,
    query: query.noQuerySchema,
    requestHeaders: [lastEventId],
    responses: {
      200: {
        description: 'Server-sent events.',
        schema: z.string(),
        contentType: 'text/event-stream',
      },
      204: { description: 'The run has ended, and nothing came after the Last-Event-ID: do not ask again.' },
      ...problems('query', 'missing'),
    },
  },
  {
    method: 'POST',
    path: '/v1/runs/{id}/calls',
    operationId: 'proposeCalls',
    tag: 'runs',
    summary: 'Propose calls of a run that the client drives, or that the caller has taken over.',
    roles: RUN_KEEPERS,
    params: runId,
    body: { schema: request.proposalsSchema, required: true },
    requestHeaders: command,
    responses: {
      200: json('All are settled.', response.proposedCallsSchema),
      202: json('Accepted; those that are settled have their results.', response.proposedCallsSchema),
      ...problems('body', 'key', 'missing', 'conflict'),
    },
  },
  ...(
    [
      ['finish', 'finishRun', 'The client is done: what was proposed still runs, then the run is completed.'],
      [
        'cancel',
        'cancelRun',
        'No more turns and calls: what has not begun is cancelled, running tools are told to stop, and each call says what came of it.',
      ],
      [
        'pause',
        'pauseRun',
        'Begin nothing new: no turn, no call. What is out goes on, and the wall clock stands still.',
      ],
      ['take-over', 'takeOverRun', 'The caller proposes the calls of the run; its model or client waits.'],
      ['hand-back', 'handBackRun', 'The driver goes on; a model is told what the person did, and the reason.'],
      ['resume', 'resumeRun', 'Raise limits of a run that ended by one, and go on with it.'],
      [
        'compensate',
        'compensateRun',
        'Undo what a run has done, the last first (an open one is cancelled before); settle what an earlier way back left; or keep it, when asked.',
      ],
    ] as const
  ).map(([verb, operationId, summary]): ApiRoute => {
    const bodies = {
      finish: request.emptySchema,
      resume: request.resumeSchema,
      compensate: request.compensateSchema,
    };
    const own = bodies as Record<string, z.ZodType>;
    const body = own[verb] ?? request.cancelSchema;
    return {
      method: 'POST',
      path: `/v1/runs/{id}/${verb}`,
      operationId,
      tag: 'runs',
      summary,
      roles: RUN_KEEPERS,
      params: runId,
      body: { schema: body, required: verb === 'resume' },
      requestHeaders: command,
      responses: {
        200: json('Ended within the wait.', response.runViewSchema),
        202: json('Accepted.', response.acceptedRunSchema, [location]),
        ...problems('body', 'key', 'missing', 'conflict'),
      },
    };
  }),
];
