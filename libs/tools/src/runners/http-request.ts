import type { ToolContract } from '#contracts';
import { fenceOf, suppliedArguments, type RunRequest } from './runner.port.ts';

type HttpExecution = Extract<ToolContract['execution'], { kind: 'http' }>;

/** What goes out. */
export interface BuiltRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

/** The request cannot be made: nothing was sent. `remedy` may be shown to anyone; it holds no value. */
export class UnsendableRequest extends Error {
  readonly code: 'INVALID_ARGS' | 'UPSTREAM_UNAVAILABLE';
  constructor(code: UnsendableRequest['code'], message: string) {
    super(message);
    this.code = code;
  }
}

const ENV = /\$\{([A-Z][A-Z0-9_]*)\}/g;
const ARGUMENT = /\{([^{}]+)\}/g;
export const FENCE_HEADER = 'countersign-fence';
export const CALL_HEADER = 'countersign-call-id';

/** Names of the settings that an HTTP contract needs. */
export function neededEnv(contract: ToolContract): string[] {
  const { execution, reconcile } = contract;
  const requests = [execution.kind === 'http' ? execution : undefined, reconcile?.http];
  const texts = requests.flatMap((part) => (part ? [part.url, ...Object.values(part.headers ?? {})] : []));
  return [...new Set(texts.flatMap((text) => [...text.matchAll(ENV)].map((match) => match[1]!)))];
}

/**
 * Arguments go where the contract says: `{name}` in the path (percent-encoded, never a path of its own), then the
 * query, then a JSON body with the rest. The operation key and the fence go beside them.
 * @throws UnsendableRequest
 */
export function buildRequest(
  request: RunRequest,
  execution: HttpExecution,
  env: Readonly<Record<string, string>>,
): BuiltRequest {
  const args: Record<string, unknown> = { ...request.arguments, ...suppliedArguments(request) };
  const { url, inPath } = fillUrl(execution.url, args, env);
  const rest = Object.keys(args).filter((name) => !inPath.has(name) && args[name] !== undefined);
  const hasBody = execution.method !== 'GET' && execution.method !== 'DELETE';
  const query = new Set(execution.query ?? (hasBody ? [] : rest));
  for (const name of rest) if (query.has(name)) appendQuery(url.searchParams, name, args[name]);
  const members = rest.filter((name) => !query.has(name));
  const body = hasBody
    ? Buffer.from(JSON.stringify(Object.fromEntries(members.map((name) => [name, args[name]]))))
    : null;
  return { method: execution.method, url, headers: headersOf(request, execution, env, body), body };
}

/** @throws UnsendableRequest */
function fillUrl(
  urlTemplate: string,
  args: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string>>,
): { url: URL; inPath: ReadonlySet<string> } {
  const inPath = new Set<string>();
  const template = urlTemplate.replace(ENV, (_match, name: string) => setting(name, env));
  const base = originOf(template);
  const filled = template.slice(base.length).replace(ARGUMENT, (_match, name: string) => {
    inPath.add(name);
    return pathSegment(name, args[name]);
  });
  return { url: parse(base + filled), inPath };
}

/** The read that asks what became of a write. @throws UnsendableRequest */
export function buildProbe(
  request: Pick<RunRequest, 'arguments' | 'operationKey' | 'callId'>,
  probe: { readonly url: string; readonly headers?: Readonly<Record<string, string>> | undefined },
  env: Readonly<Record<string, string>>,
): BuiltRequest {
  const args = { ...request.arguments, operationKey: request.operationKey };
  const headers: Record<string, string> = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'countersign',
    [CALL_HEADER]: request.callId,
  };
  for (const [name, value] of Object.entries(probe.headers ?? {})) {
    const known = value.replace(ENV, (_match, key: string) => setting(key, env));
    headers[name.toLowerCase()] = known.replace(ARGUMENT, (_match, key: string) =>
      headerText(queryText(args[key as 'operationKey'] ?? '')),
    );
  }
  return { method: 'GET', url: fillUrl(probe.url, args, env).url, headers, body: null };
}

function headersOf(
  request: RunRequest,
  execution: HttpExecution,
  env: Readonly<Record<string, string>>,
  body: Buffer | null,
): Record<string, string> {
  const { idempotency } = request.contract;
  const headers: Record<string, string> = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'countersign',
  };
  for (const [name, value] of Object.entries(execution.headers ?? {})) {
    headers[name.toLowerCase()] = value.replace(ENV, (_match, key: string) => setting(key, env));
  }
  if (body) {
    headers['content-type'] = 'application/json';
    headers['content-length'] = String(body.length);
  }
  headers[CALL_HEADER] = request.callId;
  if (idempotency.mode === 'key' && 'header' in idempotency.place)
    headers[idempotency.place.header.toLowerCase()] = headerText(request.operationKey);
  const fence = Object.entries(request.fence ?? {});
  if (fence.length > 0)
    headers[FENCE_HEADER] = fence.map(([resource, epoch]) => `${encodeURIComponent(resource)}=${epoch}`).join(', ');
  const place = request.contract.fence;
  const value = fenceOf(request.fence);
  if (place && 'header' in place && value !== undefined) headers[place.header.toLowerCase()] = String(value);
  const versionPlace = request.contract.facts?.versionPlace;
  if (versionPlace && 'header' in versionPlace && request.version !== undefined)
    headers[versionPlace.header.toLowerCase()] = headerText(request.version);
  return headers;
}

function setting(name: string, env: Readonly<Record<string, string>>): string {
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (value === undefined || value === '')
    throw new UnsendableRequest(
      'UPSTREAM_UNAVAILABLE',
      `the setting ${name} of the tool is not given to this pool; set it, or allow it for the pool's tools`,
    );
  return value;
}

/** Scheme, host and what stands before the first "/" of the path: never filled from arguments. */
function originOf(template: string): string {
  const end = template.indexOf('/', template.indexOf('://') + 3);
  return end < 0 ? template : template.slice(0, end);
}

function parse(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new UnsendableRequest(
      'UPSTREAM_UNAVAILABLE',
      'the url of the tool is not an http(s) address; correct it or its setting',
    );
  }
  return url;
}

function pathSegment(name: string, value: unknown): string {
  const text =
    typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
  if (text === '' || /^\.{1,2}$/.test(text))
    throw new UnsendableRequest(
      'INVALID_ARGS',
      `the argument "${name}" cannot stand in a path; give a text that is not empty, "." or ".."`,
    );
  return encodeURIComponent(text);
}

function appendQuery(query: URLSearchParams, name: string, value: unknown): void {
  if (Array.isArray(value)) for (const item of value) query.append(name, queryText(item));
  else query.append(name, queryText(value));
}

const queryText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Header values are Latin-1 at best: anything else is percent-encoded, the same way each time. */
const headerText = (value: string): string =>
  /^[\x21-\x24\x26-\x7e]+$/.test(value) ? value : encodeURIComponent(value);
