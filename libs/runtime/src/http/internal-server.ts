import { timingSafeEqual, createHash } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { CountersignError, InfrastructureError, parseJson } from '#kernel';
import type { ServiceReads } from './reads.ts';

/** Health and read ports of one process, never exposed to callers: `GET /healthz`, `GET /readyz`, `POST /reads/<service>/<question>`. */
export interface InternalServer {
  readonly url: string;
  close(): Promise<void>;
}

export interface InternalServerOptions {
  readonly host: string;
  readonly port: number;
  readonly token: string | undefined;
  readonly reads: ServiceReads;
  /** Reasons why this process is not ready; empty = ready. */
  readonly notReady: () => readonly string[];
}

const MAX_BODY_BYTES = 1_048_576;

export async function startInternalServer(options: InternalServerOptions): Promise<InternalServer> {
  const server = http.createServer((request, response) => {
    handle(options, request).then(
      ({ status, body }) => respond(response, status, body),
      (error: unknown) =>
        respond(response, statusOf(error), {
          error: error instanceof CountersignError ? error.code : 'INTERNAL',
          details: error instanceof CountersignError ? error.details : [],
        }),
    );
  });
  server.requestTimeout = 10_000;
  server.headersTimeout = 10_000;
  await listen(server, options.host, options.port);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${options.host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** @throws CountersignError that names the port and the remedy when it is taken */
export function listen(server: http.Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(portFault(error, host, port)));
    server.listen(port, host, resolve);
  });
}

export function portFault(error: NodeJS.ErrnoException, host: string, port: number): Error {
  if (error.code === 'EADDRINUSE') {
    return new CountersignError(
      'INVALID_ARGS',
      `Port ${port} on ${host} is in use by another process. Stop it, or choose another port (0 = any free one).`,
    );
  }
  if (error.code === 'EACCES' || error.code === 'EADDRNOTAVAIL') {
    return new CountersignError(
      'INVALID_ARGS',
      `Cannot listen on ${host}:${port} (${error.code}). Choose another address or port.`,
    );
  }
  return error;
}

async function handle(
  options: InternalServerOptions,
  request: http.IncomingMessage,
): Promise<{ status: number; body: unknown }> {
  const path = (request.url ?? '').split('?')[0]!;
  if (request.method === 'GET' && path === '/healthz') return { status: 200, body: { status: 'ok' } };
  if (request.method === 'GET' && path === '/readyz') {
    const reasons = options.notReady();
    return reasons.length === 0
      ? { status: 200, body: { status: 'ready' } }
      : { status: 503, body: { status: 'not_ready', reasons } };
  }
  const [, root, service, question] = path.split('/');
  if (request.method !== 'POST' || root !== 'reads' || !service || !question)
    return { status: 404, body: { error: 'NOT_FOUND' } };
  if (!authorized(request.headers.authorization, options.token))
    return { status: 401, body: { error: 'PERMISSION_DENIED' } };
  const args = parseJson(await readBody(request));
  if (typeof args !== 'object' || args === null || Array.isArray(args))
    return { status: 400, body: { error: 'INVALID_ARGS' } };
  return { status: 200, body: await options.reads.answerLocal(service, question, args) };
}

function authorized(header: string | undefined, token: string | undefined): boolean {
  if (token === undefined) return false;
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(header ?? ''), digest(`Bearer ${token}`));
}

async function readBody(request: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new CountersignError('INVALID_ARGS', 'the body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function statusOf(error: unknown): number {
  if (error instanceof InfrastructureError) return 503;
  if (!(error instanceof CountersignError)) return 500;
  if (error.code === 'NOT_FOUND') return 404;
  return error.code === 'INTERNAL' ? 500 : 400;
}

function respond(response: http.ServerResponse, status: number, body: unknown): void {
  if (response.headersSent) return;
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
