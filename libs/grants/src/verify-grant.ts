import { verify } from 'node:crypto';
import { CountersignError, parseJson } from '#kernel';
import {
  GRANT_ALGORITHM,
  GRANT_ISSUER,
  GRANT_TYPE,
  grantClaimsSchema,
  type GrantClaims,
} from './grant-claims.schema.ts';
import type { KeyRing } from './key-ring.ts';

export interface VerifiedGrant {
  /** `claims.exp` is not judged here: the journal's database does, inside the intent statement. */
  readonly claims: GrantClaims;
  readonly kid: string;
}

const LIMITS = { maxBytes: 65_536, maxDepth: 8 };
/** Everything else in a header (jwk, jku, x5u, x5c, crit, b64, zip …) would let the token say how to check it. */
const HEADER_NAMES = new Set(['alg', 'kid', 'typ']);

const refuse = (why: string, cause?: unknown): never => {
  throw new CountersignError('GRANT_INVALID', `The grant is refused: ${why}`, { cause });
};

/**
 * Checks a grant: form, algorithm, type, key, signature, issuer, claims. Not its expiry, audience or use.
 * Headers of honest tokens are equal text: a ring of two keys verifies without parsing them again.
 * @throws CountersignError GRANT_INVALID; what the ring's `fetch` throws when policy cannot be asked
 */
export async function verifyGrant(token: string, ring: KeyRing): Promise<VerifiedGrant> {
  if (token.length > LIMITS.maxBytes) refuse('it is too long');
  const [header, payload, signature, ...rest] = token.split('.');
  if (!header || !payload || !signature || rest.length > 0) return refuse('it is not three parts');
  const kid = keyIdOf(header);
  const key = ring.known(kid) ?? (await ring.find(kid)) ?? refuse('its key is unknown or revoked');
  const bytes = decode(signature);
  if (bytes.length !== 64 || !verify(null, Buffer.from(`${header}.${payload}`), key, bytes))
    refuse('the signature does not fit');
  return { claims: claimsOf(payload), kid };
}

const MAX_HEADERS = 16;
const checkedHeaders = new Map<string, string>();

function keyIdOf(segment: string): string {
  const checked = checkedHeaders.get(segment);
  if (checked !== undefined) return checked;
  const header = parse(segment, 'header');
  if (header.alg !== GRANT_ALGORITHM) refuse('its algorithm is not EdDSA');
  if (header.typ !== GRANT_TYPE) refuse(`its type is not ${GRANT_TYPE}`);
  const foreign = Object.keys(header).find((name) => !HEADER_NAMES.has(name));
  if (foreign !== undefined) refuse('its header holds a parameter that no grant has');
  if (typeof header.kid !== 'string' || header.kid === '') return refuse('it names no key');
  if (checkedHeaders.size >= MAX_HEADERS) checkedHeaders.clear();
  checkedHeaders.set(segment, header.kid);
  return header.kid;
}

function claimsOf(segment: string): GrantClaims {
  const payload = parse(segment, 'payload');
  if (payload.iss !== GRANT_ISSUER) refuse('its issuer is not policy');
  const claims = grantClaimsSchema.safeParse(payload);
  if (!claims.success)
    return refuse(`a claim is missing or malformed (${claims.error.issues[0]?.path.join('.') ?? ''})`);
  if (payload.sub !== claims.data.principal) refuse('its subject is not its principal');
  return claims.data;
}

function parse(segment: string, what: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseJson(decode(segment), LIMITS);
  } catch (error) {
    if (error instanceof CountersignError && error.code === 'GRANT_INVALID') throw error;
    return refuse(`its ${what} is not strict JSON`, error);
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    return refuse(`its ${what} is not an object`);
  return value as Record<string, unknown>;
}

/** Strict base64url: unused bits and foreign characters are refused, so that one grant has one text. */
function decode(segment: string): Buffer {
  const bytes = Buffer.from(segment, 'base64url');
  if (bytes.toString('base64url') !== segment) refuse('a part is not canonical base64url');
  return bytes;
}
