import { z } from 'zod';
import { callIdSchema, runIdSchema } from '#contracts';
import { APPROVAL_ID_PATTERN } from '#kernel';
import { APPROVAL_READERS, AUDIT_READERS, READERS, ROLES, RUN_KEEPERS } from '../domain/caller.ts';
import * as query from '../domain/queries.schema.ts';
import * as request from '../domain/requests.schema.ts';
import * as response from '../domain/responses.schema.ts';
import { etag, idempotencyKey, ifMatch, ifNoneMatch, lastEventId, location, prefer } from './api.headers.ts';
import type { ApiHeader, ApiResponse, ApiRoute } from './api-route.ts';
import { problems } from './api.problems.ts';

const runId = z.object({ id: runIdSchema });
const callId = z.object({ id: callIdSchema });
const approvalId = z.object({ id: z.string().regex(APPROVAL_ID_PATTERN) });
const tool = z.object({ name: z.string().describe('ns.name (the live version) or ns.name@version') });

const command = [idempotencyKey, prefer];
const json = (description: string, schema: z.ZodType, headers?: readonly ApiHeader[]): ApiResponse =>
  headers ? { description, schema, headers } : { description, schema };
const unchanged: ApiResponse = { description: 'Not changed since the ETag that was named.', headers: [etag] };

/** One document that can be asked for again only when it changed. */
const resource = (description: string, schema: z.ZodType): Record<number, ApiResponse> => ({
  200: json(description, schema, [etag]),
  304: unchanged,
});

/** All routes of the public API, one row each: the controllers are checked against it, the OpenAPI document is made of it. */
export const API: readonly ApiRoute[] = [
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
    summary: 'Propose calls of a run that the client drives.',
    roles: [ROLES.agent],
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
      ['cancel', 'cancelRun', 'No more turns and calls: what is not out is cancelled, what is out is waited for.'],
      ['resume', 'resumeRun', 'Raise limits of a run that ended by one, and go on with it.'],
    ] as const
  ).map(([verb, operationId, summary]): ApiRoute => {
    const body = { finish: request.emptySchema, cancel: request.cancelSchema, resume: request.resumeSchema }[verb];
    return {
      method: 'POST',
      path: `/v1/runs/{id}/${verb}`,
      operationId,
      tag: 'runs',
      summary,
      roles: verb === 'finish' ? [ROLES.agent] : RUN_KEEPERS,
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
    summary: 'Approve or reject exactly what the digest names.',
    roles: 'any',
    params: approvalId,
    body: { schema: request.decisionSchema, required: true },
    requestHeaders: [idempotencyKey, ifMatch],
    responses: {
      200: json('The approval as it is then.', response.approvalViewSchema, [etag]),
      ...problems('body', 'missing', 'conflict', 'stale'),
    },
  },
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
