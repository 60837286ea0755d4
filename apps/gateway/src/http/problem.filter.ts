import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { ErrorCode } from '#kernel';
import { errorFields, type Log } from '#runtime';
import { asProblem, HttpProblem, problemDocument } from '../domain/problem.ts';
import type { HttpReply } from './http-request.ts';
import type { RouteTable } from './route-table.ts';

export interface FailedRequest {
  readonly id: string;
  readonly method: string;
  readonly url: string;
}

/** Every error that leaves the gateway, its own or the framework's, is an RFC 9457 document. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  readonly #routes: RouteTable;
  readonly #log: Log;
  readonly #maxBodyBytes: number;

  constructor(routes: RouteTable, log: Log, maxBodyBytes: number) {
    this.#maxBodyBytes = maxBodyBytes;
    this.#routes = routes;
    this.#log = log;
  }

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(error, http.getRequest<FailedRequest>(), http.getResponse<HttpReply>());
  }

  answer(error: unknown, request: FailedRequest, reply: HttpReply): void {
    const problem = asProblem(error) ?? this.#ofFramework(error, request) ?? this.#fault(error, request);
    for (const [name, value] of Object.entries(problem.headers)) reply.header(name, value);
    reply.status(problem.status).header('x-request-id', request.id).type('application/problem+json');
    reply.send(JSON.stringify(problemDocument(problem, request.id)));
  }

  /** Fastify says `statusCode`, Nest says `getStatus()`. Their texts may repeat input, so ours are told instead. */
  #ofFramework(error: unknown, { method, url }: FailedRequest): HttpProblem | null {
    const known = error as { statusCode?: unknown; getStatus?: () => number } | null;
    const status = typeof known?.getStatus === 'function' ? known.getStatus() : known?.statusCode;
    if (typeof status !== 'number' || status < 400 || status >= 500) return null;
    if (status === 404) {
      const allowed = this.#routes.methodsOf(url);
      if (allowed.length > 0) {
        const detail = `${method} does not go here; use ${allowed.join(', ')}`;
        return new HttpProblem(405, 'NOT_FOUND', detail, { headers: { allow: allowed.join(', ') } });
      }
    }
    if (status === 413) {
      const message = `The body is larger than the ${this.#maxBodyBytes} bytes that are allowed`;
      const details = [{ path: '', rule: 'maxBytes', allowed: [this.#maxBodyBytes] }];
      return new HttpProblem(413, 'INVALID_JSON', message, { details, cause: error });
    }
    const [code, detail] = FRAMEWORK[status] ?? ['INVALID_ARGS', 'The request cannot be understood'];
    return new HttpProblem(status, code, detail, { cause: error });
  }

  #fault(error: unknown, request: FailedRequest): HttpProblem {
    this.#log.error({ requestId: request.id, method: request.method, ...errorFields(error) }, 'request failed');
    return new HttpProblem(500, 'INTERNAL', `A fault of ours; the logs have it under ${request.id}`);
  }
}

const FRAMEWORK: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  404: ['NOT_FOUND', 'There is no such address'],
  414: ['INVALID_ARGS', 'A part of the address is too long'],
  415: ['INVALID_JSON', 'The body must be sent as Content-Type: application/json'],
};
