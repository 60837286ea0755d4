import http from 'node:http';
import https from 'node:https';
import type { BuiltRequest } from './http-request.ts';

/** How far one exchange got: see R1–R4 of the port. */
export type Exchange =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers: http.IncomingHttpHeaders;
      readonly body: Buffer;
      readonly tooLarge: boolean;
    }
  | {
      readonly kind: 'lost';
      readonly sent: boolean;
      readonly why: 'timeout' | 'stopped' | 'cut';
      readonly code: string;
      readonly status?: number;
    };

export interface ExchangeOptions {
  readonly agents: Agents;
  /** Milliseconds for the whole exchange. */
  readonly timeoutMs: number;
  /** Bytes of the answer that are read; then the connection is closed. */
  readonly capBytes: number;
  readonly signal: AbortSignal;
  /** Registers what cuts the exchange of a cancelled call. */
  readonly onStop?: (cut: () => void) => void;
}

export interface Agents {
  readonly http: http.Agent;
  readonly https: https.Agent;
}

/** Idle connections are kept for less than servers usually keep them, so that a reused one is seldom closed under a request. */
export const makeAgents = (): Agents => {
  const options = {
    keepAlive: true,
    maxSockets: 256,
    maxFreeSockets: 256,
    timeout: 4_000,
    scheduling: 'lifo',
  } as const;
  return { http: new http.Agent(options), https: new https.Agent(options) };
};

/** Sends once, follows nothing, reads up to the cap. Never rejects. */
export function exchange(built: BuiltRequest, options: ExchangeOptions): Promise<Exchange> {
  return new Promise((resolve) => {
    const secure = built.url.protocol === 'https:';
    const request = open(built, options.agents);
    if (typeof request === 'string') return resolve({ kind: 'lost', sent: false, why: 'cut', code: request });
    let sent = false;
    let status: number | undefined;
    let ended = false;
    const end = (result: Exchange): void => {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      options.signal.removeEventListener('abort', onAbort);
      resolve(result);
    };
    const lose = (why: 'timeout' | 'stopped' | 'cut', code: string): void => {
      if (ended) return;
      end({ kind: 'lost', sent, why, code, ...(status === undefined ? {} : { status }) });
      request.destroy();
    };
    const onAbort = (): void => lose('stopped', 'ABORTED');
    const timer = setTimeout(() => lose('timeout', 'TIMEOUT'), options.timeoutMs);
    options.signal.addEventListener('abort', onAbort, { once: true });
    options.onStop?.(onAbort);

    request.on('socket', (socket) => {
      // From here on bytes may leave; before it (DNS, connect, TLS) none can.
      if (socket.connecting) socket.once(secure ? 'secureConnect' : 'connect', () => (sent = true));
      else sent = true;
    });
    request.on('error', (error: NodeJS.ErrnoException) => lose('cut', error.code ?? error.name));
    request.on('response', (response) => {
      status = response.statusCode ?? 0;
      const chunks: Buffer[] = [];
      let length = 0;
      const answer = (tooLarge: boolean): void =>
        end({
          kind: 'answer',
          status: status!,
          headers: response.headers,
          body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length),
          tooLarge,
        });
      response.on('data', (chunk: Buffer) => {
        const room = options.capBytes - length;
        chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
        length += Math.min(chunk.length, room);
        if (chunk.length > room) {
          answer(true);
          request.destroy();
        }
      });
      response.on('end', () => (response.complete ? answer(false) : lose('cut', 'INCOMPLETE')));
      response.on('error', (error: NodeJS.ErrnoException) => lose('cut', error.code ?? error.name));
      response.on('aborted', () => lose('cut', 'ECONNRESET'));
    });
    request.end(built.body ?? undefined);
  });
}

/** Node refuses some requests before they begin, such as header values with line breaks: nothing was sent. */
function open(built: BuiltRequest, agents: Agents): http.ClientRequest | string {
  const secure = built.url.protocol === 'https:';
  try {
    return (secure ? https : http).request(built.url, {
      method: built.method,
      headers: built.headers,
      agent: secure ? agents.https : agents.http,
    });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'UNSENDABLE';
  }
}
