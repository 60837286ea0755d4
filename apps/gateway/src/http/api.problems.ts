import { problemSchema } from '../domain/responses.schema.ts';
import { challenge, rateLimit, rateLimitPolicy, retryAfter } from './api.headers.ts';
import type { ApiHeader, ApiResponse } from './api-route.ts';

const problem = (description: string, headers?: readonly ApiHeader[]): ApiResponse => ({
  description,
  schema: problemSchema,
  contentType: 'application/problem+json',
  ...(headers ? { headers } : {}),
});

const ALWAYS: Readonly<Record<number, ApiResponse>> = {
  400: problem('The request is not understood; `details` names each place.'),
  401: problem('No credential, or one that is not known, has expired or was revoked.', [challenge]),
  403: problem('The role or the scope of the credential does not cover this.'),
  405: problem('Another method is needed.'),
  406: problem('The caller accepts no form that this address has.'),
  421: problem('Development mode answers only requests that are addressed to this machine.'),
  429: problem('Too many requests, by this caller or all of them.', [retryAfter, rateLimit, rateLimitPolicy]),
  431: problem('The headers are larger than is allowed.'),
  500: problem('A fault of ours; `requestId` finds it in the logs.'),
  503: problem('A part of the service is away.', [retryAfter]),
};

const BY_NEED = {
  query: {},
  body: {
    408: problem('The request did not arrive in time.'),
    413: problem('The body is larger than is allowed.'),
    415: problem('The body is not sent as application/json.'),
  },
  key: { 422: problem('The Idempotency-Key was used with other content.') },
  missing: { 404: problem('There is no such thing, or it is not yours.') },
  conflict: { 409: problem('It does not fit the state of what was addressed.') },
  exists: { 412: problem('If-None-Match: * was given, and the version is there.') },
  stale: { 412: problem('The ETag is not the current one; `approval` holds the approval as it is.') },
} satisfies Record<string, Readonly<Record<number, ApiResponse>>>;

/** The problems of a route: those of every route, and those of what it needs. */
export const problems = (...needs: readonly (keyof typeof BY_NEED)[]): Record<number, ApiResponse> =>
  Object.assign({}, ALWAYS, ...needs.map((need) => BY_NEED[need])) as Record<number, ApiResponse>;
