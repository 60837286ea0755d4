import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { checkRequest, type RequestError } from './check-request.ts';
import { scriptRequest, type Script, type ScriptAnswer, type ScriptItem } from './script.ts';
import { outputItem, reasoningItem, responseBody } from './write-response.ts';

export interface ScriptedServerOptions {
  readonly script: Script;
  /** 0 or absent: a free one. */
  readonly port?: number | undefined;
  /** A sealed reasoning item before each answer, as reasoning models send; default true. */
  readonly reasoning?: boolean | undefined;
}

export interface ScriptedServer {
  /** Base URL for the SDK; ends with `/v1`. */
  readonly url: string;
  /** Bodies of all requests that reached `POST /v1/responses`, accepted or not. */
  readonly requests: readonly Readonly<Record<string, unknown>>[];
  close(): Promise<void>;
}

const MAX_BODY = 32 * 1024 * 1024;
type Body = Record<string, unknown>;

/** A local model: it speaks the wire format of the Responses API, refuses what the API refuses, and plays a script. */
export async function startScriptedServer(options: ScriptedServerOptions): Promise<ScriptedServer> {
  const requests: Body[] = [];
  const seen = new Map<string, number>();
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (!response.headersSent)
        sendError(response, {
          status: 500,
          message: `The script failed: ${String(error)}`,
          code: 'server_error',
          param: null,
        });
      else response.destroy();
    });
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readBody(request);
    const path = (request.url ?? '').split('?')[0];
    if (request.method !== 'POST' || path !== '/v1/responses') {
      return sendError(response, {
        status: 404,
        message: `Invalid URL (${request.method} ${path})`,
        code: null,
        param: null,
      });
    }
    if (!/^Bearer \S+$/.test(request.headers.authorization ?? '')) {
      return sendError(response, {
        status: 401,
        message: "You didn't provide an API key.",
        code: 'invalid_api_key',
        param: null,
      });
    }
    let body: Body;
    try {
      body = JSON.parse(text) as Body;
    } catch {
      return sendError(response, {
        status: 400,
        message: 'We could not parse the JSON body of your request.',
        code: null,
        param: null,
      });
    }
    requests.push(body);
    const refused = checkRequest(body);
    if (refused) return sendError(response, refused);
    const key = createHash('sha256').update(text).digest('base64');
    const repeats = seen.get(key) ?? 0;
    seen.set(key, repeats + 1);
    await play(response, body, await options.script(scriptRequest(body, repeats)), options.reasoning ?? true);
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function play(response: ServerResponse, request: Body, answer: ScriptAnswer, reasoning: boolean): Promise<void> {
  if (!('fault' in answer)) return sendJson(response, 200, completed(request, answer, reasoning));
  switch (answer.fault) {
    case 'http':
      return sendError(
        response,
        { status: answer.status, message: 'Scripted fault.', code: answer.code ?? null, param: null },
        answer.type,
        answer.headers,
      );
    case 'incomplete': {
      const output = answer.items.map((item, index) =>
        outputItem(item, index === answer.items.length - 1 ? 'incomplete' : 'completed'),
      );
      return sendJson(
        response,
        200,
        responseBody({ request, output, status: 'incomplete', incompleteReason: answer.reason }),
      );
    }
    case 'failed':
      return sendJson(response, 200, responseBody({ request, output: [], status: 'failed', errorCode: answer.code }));
    case 'body':
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer.text);
      return;
    case 'slow':
      await answer.until;
      return sendJson(response, 200, completed(request, answer.then, reasoning));
    case 'cut':
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"id":"resp_', () => response.destroy());
  }
}

function completed(request: Body, items: readonly ScriptItem[], reasoning: boolean): Body {
  const output = [...(reasoning ? [reasoningItem(request)] : []), ...items.map((item) => outputItem(item))];
  return responseBody({ request, output, status: 'completed' });
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) throw new Error(`the body is larger than ${MAX_BODY} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'x-request-id': `req_${Date.now().toString(36)}`,
      ...headers,
    })
    .end(JSON.stringify(body));
}

function sendError(
  response: ServerResponse,
  error: RequestError,
  type?: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const kind =
    type ?? (error.status >= 500 ? 'server_error' : error.status === 429 ? 'requests' : 'invalid_request_error');
  sendJson(
    response,
    error.status,
    { error: { message: error.message, type: kind, param: error.param, code: error.code } },
    headers,
  );
}
