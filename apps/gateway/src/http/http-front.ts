import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { newId } from '#kernel';
import type { HttpFront, Log } from '#runtime';
import { requireAcceptable } from '../domain/accept.ts';
import { HttpProblem } from '../domain/problem.ts';
import type { HttpReply } from './http-request.ts';
import { ProblemFilter, type FailedRequest } from './problem.filter.ts';
import { RouteTable } from './route-table.ts';
import { answerUnreadable } from './unreadable-request.ts';

/** Milliseconds in which a request must have arrived whole. */
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_MS = 72_000;
/** Characters of an address with its query. */
const MAX_URL = 8_192;
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

interface RawRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Names a request within the logs of one process; counting is cheaper than chance, and nobody needs to be kept from guessing. */
function requestIds(): (request: RawRequest) => string {
  const first = newId('req');
  let count = 0;
  return ({ headers }) => {
    const given = headers['x-request-id'];
    return typeof given === 'string' && REQUEST_ID.test(given) ? given : `${first}-${(count++).toString(36)}`;
  };
}

/** The gateway's HTTP server: bodies stay bytes until the strict parser reads them, every error is a problem document. */
export function httpFront(maxBodyBytes: number, log: Log): HttpFront {
  const routes = new RouteTable();
  const filter = new ProblemFilter(routes, log, maxBodyBytes);
  return {
    fastify: {
      bodyLimit: maxBodyBytes,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      requestIdHeader: false,
      genReqId: requestIds(),
      clientErrorHandler: answerUnreadable,
      // What the router refuses before any hook runs: addresses that cannot be decoded or are too long.
      frameworkErrors: (error: Error, request: FailedRequest, reply: HttpReply) => filter.answer(error, request, reply),
    },
    configure: (app: NestFastifyApplication) => {
      const server = app.getHttpAdapter().getInstance();
      server.removeAllContentTypeParsers();
      server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
        done(null, body),
      );
      server.addHook('onRoute', (route) => routes.add(route.method, route.url));
      server.addHook('onRequest', (request, reply, done) => {
        reply.header('x-request-id', request.id);
        reply.header('cache-control', 'no-store');
        done(faultOf(request.url, request.headers.accept));
      });
      app.useGlobalFilters(filter);
    },
  };
}

/** What is wrong with the address or the wished form, before anybody is asked who he is. */
function faultOf(url: string, accept: unknown): Error | undefined {
  if (url.length > MAX_URL) {
    const message = `The address is longer than the ${MAX_URL} characters that are allowed`;
    return new HttpProblem(414, 'INVALID_ARGS', message, { details: [{ path: '', rule: 'maxLength' }] });
  }
  try {
    requireAcceptable(url, accept);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}
