import { sign, verify, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { digestSchema, tenantSchema } from '#contracts';
import { importPublicKey } from '#grants';

/**
 * A signed ledger head: whoever holds it can tell later that nothing up to `size` was changed or taken away.
 *
 * H1 compact JWS, Ed25519 (EdDSA), type `countersign-checkpoint+jwt`: no other token of ours passes as one;
 * H2 the verifier's keys come from the verifier, never from the checkpoint;
 * H3 the chain makes the digest of record `size` stand for every record before it.
 */
export const checkpointClaimsSchema = z.object({
  iss: z.literal('countersign-telemetry'),
  ledger: tenantSchema,
  /** Number of records that are signed. */
  size: z.int().min(1),
  /** Digest of record `size`. */
  head: digestSchema,
  /** Seconds since the epoch. */
  iat: z.int(),
});
export type CheckpointClaims = z.infer<typeof checkpointClaimsSchema>;

/** As `GET /v1/audit/checkpoints` answers it. Only `jws` proves anything; the rest is for reading. */
export interface Checkpoint {
  readonly ledger: string;
  readonly size: number;
  readonly head: string;
  readonly kid: string;
  /** RFC 3339. */
  readonly time: string;
  readonly jws: string;
}

export const CHECKPOINT_JWS_TYPE = 'countersign-checkpoint+jwt';

export interface CheckpointSigner {
  readonly kid: string;
  readonly privateKey: KeyObject;
}

/** Signs a ledger's head as it stands. `nowMs`: milliseconds since the epoch. */
export function signCheckpoint(
  signer: CheckpointSigner,
  head: { readonly ledger: string; readonly size: number; readonly head: string },
  nowMs: number,
): Checkpoint {
  const iat = Math.floor(nowMs / 1000);
  const claims: CheckpointClaims = { iss: 'countersign-telemetry', ...head, iat };
  const signed = `${encode({ alg: 'EdDSA', kid: signer.kid, typ: CHECKPOINT_JWS_TYPE })}.${encode(claims)}`;
  return {
    ...head,
    kid: signer.kid,
    time: new Date(iat * 1000).toISOString(),
    jws: `${signed}.${sign(null, Buffer.from(signed), signer.privateKey).toString('base64url')}`,
  };
}

/** Public keys by key id. @throws ZodError or TypeError when one is no Ed25519 JWK or its kid is not its thumbprint */
export const importKeys = (jwks: readonly unknown[]): ReadonlyMap<string, KeyObject> =>
  new Map(jwks.map(importPublicKey).map(({ kid, key }) => [kid, key]));

export type CheckedCheckpoint =
  | { readonly ok: true; readonly claims: CheckpointClaims }
  | { readonly ok: false; readonly ledger: string; readonly size: number; readonly reason: string };

/** Checks form, type, algorithm, key and signature; nothing of a record. */
export function checkCheckpoint(jws: string, keys: ReadonlyMap<string, KeyObject>): CheckedCheckpoint {
  const [header, payload, signature, ...rest] = jws.split('.');
  const claims = checkpointClaimsSchema.safeParse(decode(payload));
  const no = (reason: string): CheckedCheckpoint => ({
    ok: false,
    ledger: claims.data?.ledger ?? '',
    size: claims.data?.size ?? 0,
    reason,
  });
  if (!header || !payload || !signature || rest.length > 0) return no('it is not three parts');
  const { alg, kid, typ, ...more } = (decode(header) ?? {}) as Record<string, unknown>;
  if (alg !== 'EdDSA' || typ !== CHECKPOINT_JWS_TYPE || Object.keys(more).length > 0)
    return no('its header is not that of a checkpoint');
  const key = typeof kid === 'string' ? keys.get(kid) : undefined;
  if (!key) return no(`its key (${String(kid).slice(0, 64)}) is not among the keys that were given`);
  const bytes = Buffer.from(signature, 'base64url');
  if (bytes.length !== 64 || !verify(null, Buffer.from(`${header}.${payload}`), key, bytes))
    return no('its signature does not fit its content');
  return claims.success ? { ok: true, claims: claims.data } : no('its claims are malformed');
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function decode(segment: string | undefined): unknown {
  try {
    return JSON.parse(Buffer.from(segment ?? '', 'base64url').toString()) as unknown;
  } catch {
    return null;
  }
}
