import { createHash } from 'node:crypto';
import { CountersignError } from '#kernel';
import type { ApiKey } from '../adapters/api-keys.ts';
import type { RateLimit } from '../adapters/rate-limit.ts';
import { hasRole, hostName, isLoopback, parseDevCredential, type Caller, type Verb } from '../domain/caller.ts';
import { HttpProblem } from '../domain/problem.ts';
import type { HttpRequest } from './http-request.ts';

/** Dev credentials are short and few; a flood of made-up ones starts the memory anew. */
const MAX_REMEMBERED = 10_000;
const BEARER = /^Bearer ([\x21-\x7e]{1,512})$/i;

export interface AccessOptions {
  readonly dev: boolean;
  /** By the SHA-256 of a key. */
  readonly keys: { find(keySha256: string): ApiKey | undefined };
  readonly rate?: RateLimit;
  readonly isSuspended?: (tenant: string) => boolean;
  /** Epoch milliseconds. */
  readonly now?: () => number;
}

type Asking = Pick<HttpRequest, 'headers'> & Partial<Pick<HttpRequest, 'method' | 'url'>>;

/** Credential → tenant and principal. Nothing else of a request says who asks. */
export class Access {
  readonly #options: AccessOptions;
  readonly #remembered = new Map<string, Caller>();

  constructor(options: AccessOptions) {
    this.#options = options;
  }

  /**
   * The caller, who has at least one of the roles.
   * @throws HttpProblem 401 (no, unknown, expired or revoked credential), 403 (no such role or scope; tenant suspended), 429, 421 (dev mode, and the Host is not this machine)
   */
  require(request: Asking, ...roles: readonly string[]): Caller {
    const caller = this.identify(request);
    if (!hasRole(caller, roles)) {
      throw new HttpProblem(403, 'PERMISSION_DENIED', `This needs one of the roles ${roles.join(', ')}`);
    }
    return caller;
  }

  /** Whoever it is, with any role. @throws HttpProblem 401, 403, 421, 429 */
  identify(request: Asking): Caller {
    const { caller, bucket } = this.#known(request);
    this.#options.rate?.take(bucket);
    const verb = verbOf(request);
    if (verb !== 'read' && !onlyEnds(request) && this.#options.isSuspended?.(caller.tenant) === true) throw suspended();
    if (caller.scope?.verbs?.includes(verb) === false) {
      throw new HttpProblem(
        403,
        'PERMISSION_DENIED',
        `The credential does not cover "${verb}"; its scope names the verbs`,
      );
    }
    return caller;
  }

  /** Is the credential of a request that was let in still good? Asked while its answer goes on; takes nothing of its rate. */
  isGood(request: Asking): boolean {
    try {
      this.#known(request);
      return true;
    } catch (error) {
      if (error instanceof HttpProblem) return false;
      throw error;
    }
  }

  /** @returns with the bucket of its rate: each key has its own */
  #known({ headers }: Asking): { readonly caller: Caller; readonly bucket: string } {
    if (this.#options.dev) refuseForeignHost(headers.host);
    const header = headers.authorization;
    const credential = typeof header === 'string' ? BEARER.exec(header)?.[1] : undefined;
    if (credential === undefined) throw unauthenticated('Give a credential: Authorization: Bearer …');
    const developer = this.#options.dev ? this.#dev(credential) : null;
    if (developer) return { caller: developer, bucket: `${developer.tenant} ${developer.principal.id}` };
    const hash = sha256(credential);
    return { caller: this.#byKey(hash), bucket: hash };
  }

  #byKey(hash: string): Caller {
    const key = this.#options.keys.find(hash);
    if (!key) throw unauthenticated('The credential is not known here');
    if (key.revoked) throw unauthenticated('The credential was revoked; ask for a new one');
    if (key.expiresAt !== null && key.expiresAt <= (this.#options.now ?? Date.now)())
      throw unauthenticated(`The credential has expired (${new Date(key.expiresAt).toISOString()}); ask for a new one`);
    return key.caller;
  }

  #dev(credential: string): Caller | null {
    const known = this.#remembered.get(credential);
    if (known) return known;
    const caller = parseDevCredential(credential);
    if (caller) {
      if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear();
      this.#remembered.set(credential, caller);
    }
    return caller;
  }
}

/** What a request would do, by its method and address: no route can forget to say so. */
function verbOf({ method = 'GET', url = '' }: Asking): Verb {
  if (method === 'GET' || method === 'HEAD') return 'read';
  return /^\/v1\/(?:approvals|standing-grants|tool-reviews)(?:[/?]|$)(?!.*\/withdraw$)/.test(url) ? 'approve' : 'act';
}

/** What stops work, or says what became of it, is open to a suspended tenant. */
const onlyEnds = ({ url = '' }: Asking): boolean =>
  /^\/v1\/[^?]*\/(?:cancel|pause|withdraw|revoke|resolve)(?:\?|$)/.test(url);

const suspended = (): HttpProblem =>
  new HttpProblem(
    403,
    'PERMISSION_DENIED',
    'The tenant is suspended: nothing new is begun. Reading, cancelling, pausing, withdrawing and resolving go on; ask the operator of the installation to lift it',
  );

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const unauthenticated = (detail: string): HttpProblem =>
  new HttpProblem(401, 'PERMISSION_DENIED', detail, { headers: { 'www-authenticate': 'Bearer realm="countersign"' } });

/** A web page whose name was rebound to this machine must not speak with dev credentials. */
function refuseForeignHost(host: unknown): void {
  if (typeof host === 'string' && isLoopback(hostName(host))) return;
  throw new HttpProblem(
    421,
    'PERMISSION_DENIED',
    'Development mode answers only requests that are addressed to this machine',
  );
}

/**
 * Dev mode accepts whoever asks, so it listens on loopback only; without it there must be keys.
 * @throws CountersignError INVALID_ARGS with the remedy: the start is refused
 */
export function checkAccessSettings(dev: boolean, host: string, hasKeys: boolean): void {
  if (dev && !isLoopback(host)) {
    throw new CountersignError(
      'INVALID_ARGS',
      `COUNTERSIGN_DEV=1 accepts unauthenticated callers and needs a loopback COUNTERSIGN_HTTP_HOST; found ${JSON.stringify(host)}. ` +
        'Set COUNTERSIGN_HTTP_HOST=127.0.0.1, or unset COUNTERSIGN_DEV and give COUNTERSIGN_API_KEYS_FILE.',
    );
  }
  if (!dev && !hasKeys) {
    throw new CountersignError(
      'INVALID_ARGS',
      'No credential would be accepted: give COUNTERSIGN_API_KEYS_FILE, or set COUNTERSIGN_DEV=1 for development on this machine.',
    );
  }
}
