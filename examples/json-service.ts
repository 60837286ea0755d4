import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the source systems of the examples share: JSON over HTTP on loopback. They know nothing of Countersign. */
export interface JsonService {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

export interface JsonRequest {
  /** `GET /drafts`. */
  readonly route: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Header Idempotency-Key; null without one. @throws Refused 400 when it is empty or too long */
  key(): string | null;
  /** @throws Refused 400 or 413 */
  json(): Promise<unknown>;
}

export interface JsonAnswer {
  readonly status: number;
  readonly body: unknown;
}
export const ok = (body: unknown): JsonAnswer => ({ status: 200, body });

/** A request that changes nothing, and why. `code` is for machines. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, message: string, code = 'invalid_request') {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Why a service cannot start, told in full: what is wrong and what mends it. */
export class StartFault extends Error {}

const MAX_BODY = 262_144;
const MAX_KEY = 1024;

/**
 * @param port 0 for a free one
 * @param close ends what stands behind the answers, after the last request
 * @throws Error EADDRINUSE
 */
export async function serveJson(
  port: number,
  answer: (request: JsonRequest) => Promise<JsonAnswer> | JsonAnswer,
  close: () => Promise<void> = () => Promise.resolve(),
): Promise<JsonService> {
  const server = createServer((request, response) => {
    Promise.resolve()
      .then(() => answer(jsonRequest(request)))
      .then(
        ({ status, body }) => send(response, status, body),
        (error: unknown) => {
          if (error instanceof Refused)
            return send(response, error.status, { error: { code: error.code, message: error.message } });
          console.error(error);
          send(response, 500, { error: { code: 'internal', message: 'The service failed; see its log' } });
        },
      );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      });
      await close();
    },
  };
}

/** Starts a service as the whole of a process: prints `{"url"}`, ends by SIGTERM, SIGINT or with whoever started it. */
export async function runProcess(portText: string, start: (port: number) => Promise<JsonService>): Promise<void> {
  if (!/^\d{1,5}$/.test(portText) || Number(portText) > 65_535) {
    console.error(`--port: found ${JSON.stringify(portText)}; expected a number from 0 to 65535`);
    process.exit(2);
  }
  try {
    const service = await start(Number(portText));
    console.log(JSON.stringify({ url: service.url }));
    const stop = (): void => void service.close().finally(() => process.exit(0));
    for (const signal of ['SIGTERM', 'SIGINT', 'disconnect']) process.once(signal, stop);
  } catch (error) {
    const inUse = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    const told = error instanceof StartFault ? error.message : error;
    console.error(inUse ? `port ${portText} is in use; give another with --port` : told);
    process.exit(1);
  }
}

function jsonRequest(request: IncomingMessage): JsonRequest {
  const url = new URL(request.url ?? '/', 'http://localhost');
  return {
    route: `${request.method} ${url.pathname}`,
    path: url.pathname,
    query: url.searchParams,
    key() {
      const key = request.headers['idempotency-key'];
      if (Array.isArray(key) || (key !== undefined && (key === '' || key.length > MAX_KEY)))
        throw new Refused(400, `Idempotency-Key must have 1 to ${MAX_KEY} characters`);
      return key ?? null;
    },
    json: () => readJson(request),
  };
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BODY) chunks.push(chunk);
  }
  if (size > MAX_BODY) throw new Refused(413, `The body has more than ${MAX_BODY} bytes`, 'too_large');
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
  } catch {
    throw new Refused(400, 'The body is not JSON');
  }
}

/** @throws Refused 400 when it is not an object, or has a field that is not in `names` */
export function fieldsOf(body: unknown, names: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new Refused(400, 'The body must be an object');
  const unknown = Object.keys(body).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new Refused(400, `The field ${JSON.stringify(unknown)} is not known; known are ${names.join(', ')}`);
  return body as Record<string, unknown>;
}

/** @throws Refused 400 unless it is a text that is not blank, with at most `max` characters */
export function textOf(fields: Readonly<Record<string, unknown>>, name: string, max: number): string {
  const value = fields[name];
  if (typeof value !== 'string' || value.trim() === '' || value.length > max || value.includes('\0'))
    throw new Refused(400, `${name} must have 1 to ${max} characters and must not be blank`);
  return value;
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}
