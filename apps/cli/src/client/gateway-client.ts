import { CommandFailure, EXIT, usageFailure, type ExitCode } from '../exit-codes.ts';
import { readEvents, type ServerEvent } from './read-events.ts';

export type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

export interface Page<T> {
  readonly items: readonly T[];
  /** Give it as `after` for what follows; null = nothing more. */
  readonly next: string | null;
}

export interface PostOptions {
  /** Idempotency-Key: a repeat with the same key does nothing twice. */
  readonly key?: string | undefined;
  /** Seconds that the gateway may wait for the end. */
  readonly wait?: number | undefined;
}

/** How long the gateway may think, beyond the wait that was asked for. */
const ANSWER_MS = 30_000;

interface Problem {
  readonly code?: string;
  readonly detail?: string;
  readonly details?: readonly { readonly path?: string; readonly message?: string }[];
  readonly requestId?: string;
}

/** The gateway's HTTP API. Every failure comes out as a CommandFailure with its exit code. */
export class GatewayClient {
  readonly url: string;
  readonly #token: string | undefined;

  constructor(url: string, token: string | undefined) {
    this.url = url;
    this.#token = token;
  }

  get<T>(path: string, query: Query = {}): Promise<T> {
    return this.#send<T>('GET', path, query, undefined, {});
  }

  post<T>(path: string, body: object, options: PostOptions = {}): Promise<T> {
    return this.#send<T>('POST', path, {}, body, options);
  }

  put<T>(path: string, body: object): Promise<T> {
    return this.#send<T>('PUT', path, {}, body, {});
  }

  /** The items of a paged list, page by page, at most `limit`. */
  async list<T>(path: string, query: Query, limit: number): Promise<T[]> {
    const items: T[] = [];
    for (let after: string | undefined; items.length < limit;) {
      const page = await this.get<Page<T>>(path, { ...query, limit: Math.min(limit - items.length, 200), after });
      items.push(...page.items);
      if (page.next === null) break;
      after = page.next;
    }
    return items.slice(0, limit);
  }

  /**
   * The server-sent events of a resource, until the server ends them.
   * @returns null when this gateway does not offer the stream
   */
  async events(path: string, lastEventId?: string): Promise<AsyncIterable<ServerEvent> | null> {
    const resume = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    const response = await this.#fetch('GET', path, { accept: 'text/event-stream', ...resume });
    if (response.ok && response.body && response.headers.get('content-type')?.startsWith('text/event-stream'))
      return readEvents(response.body);
    if (!response.ok && ![404, 406].includes(response.status)) throw await failureOf(response, this.url);
    await response.body?.cancel();
    if (response.status === 204) return nothingMore();
    return null;
  }

  async #send<T>(method: string, path: string, query: Query, body: object | undefined, options: PostOptions) {
    const headers: Record<string, string> = { accept: 'application/json' };
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (options.key !== undefined) headers['idempotency-key'] = `"${options.key}"`;
    if (options.wait !== undefined) headers.prefer = `wait=${options.wait}`;
    const limitMs = ANSWER_MS + (options.wait ?? 0) * 1000;
    const response = await this.#fetch(method, path + queryText(query), headers, body, limitMs);
    if (!response.ok) throw await failureOf(response, this.url);
    return (await response.json().catch(() => {
      throw notOurs(this.url, response.status);
    })) as T;
  }

  async #fetch(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: object,
    limitMs?: number,
  ): Promise<Response> {
    if (this.#token === undefined)
      throw usageFailure(
        '--token is missing: give --token or set COUNTERSIGN_TOKEN ("countersign dev" prints credentials)',
      );
    try {
      return await fetch(new URL(path, this.url), {
        method,
        headers: { ...headers, authorization: `Bearer ${this.#token}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(limitMs === undefined ? {} : { signal: AbortSignal.timeout(limitMs) }),
      });
    } catch (error) {
      throw unreachable(this.url, error);
    }
  }
}

async function* nothingMore(): AsyncGenerator<never> {}

const queryText = (query: Query): string => {
  const parts = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one): [string, string] => [name, String(one)]),
  );
  return parts.length === 0 ? '' : `?${new URLSearchParams(parts).toString()}`;
};

export function unreachable(url: string, error: unknown): CommandFailure {
  const { cause, name, message } = error as Error & { cause?: { code?: string; message?: string } };
  const reason = cause?.code ?? cause?.message ?? (name === 'TimeoutError' ? 'no answer in time' : message);
  return new CommandFailure(
    EXIT.unreachable,
    `the gateway at ${url} does not answer (${reason}): start it ("countersign dev"), or name another with --url or COUNTERSIGN_URL`,
    { cause: error },
  );
}

const notOurs = (url: string, status: number): CommandFailure =>
  new CommandFailure(
    EXIT.unreachable,
    `${url} answers (HTTP ${status}), but not as a Countersign gateway: correct --url or COUNTERSIGN_URL`,
  );

async function failureOf(response: Response, url: string): Promise<CommandFailure> {
  const problem = (await response.json().catch(() => null)) as Problem | null;
  if (problem === null || typeof problem !== 'object' || typeof problem.code !== 'string')
    return notOurs(url, response.status);
  const { code, detail = '', requestId } = problem;
  const id = response.status >= 500 && requestId ? ` (request ${requestId})` : '';
  const hint = response.status === 401 ? '; give another with --token or COUNTERSIGN_TOKEN' : '';
  return new CommandFailure(exitOf(response.status), `${code}: ${detail}${hint}${id}`, { code });
}

function exitOf(status: number): ExitCode {
  if (status === 401 || status === 403 || status === 421) return EXIT.refused;
  if (status === 400) return EXIT.usage;
  return status === 502 || status === 503 || status === 504 ? EXIT.unreachable : EXIT.failed;
}
