import { sign, verify, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { digestSchema, readLedgerName, tenantSchema } from '#contracts';
import { importPublicKey } from '#grants';

/**
 * Signed heads of all ledgers of a tenant: whoever holds them can tell later that nothing they cover was changed or taken away.
 *
 * H1 compact JWS, Ed25519 (EdDSA), type `countersign-checkpoint+jwt`: no other token of ours passes as one;
 * H2 the verifier's keys come from the verifier, never from the checkpoint;
 * H3 a head stands for every record of its ledger up to `size` twice: by the chain (`head`, for who reads them all) and by the
 *    Merkle tree (`root`, for who proves one of them);
 * H4 ledgers that are not named have no records; sizes only grow from one checkpoint to the next.
 */
const headSchema = z.object({
  ledger: z.string().refine((name) => readLedgerName(name) !== null),
  /** Number of records that are signed. */
  size: z.int().min(1),
  /** Digest of record `size`. */
  head: digestSchema,
  /** Root of the tree over the records. */
  root: digestSchema,
});
export type LedgerHead = Readonly<z.infer<typeof headSchema>>;

export const checkpointClaimsSchema = z.object({
  iss: z.literal('countersign-telemetry'),
  tenant: tenantSchema,
  /** Records of all ledgers together. */
  size: z.int().min(1),
  ledgers: z.array(headSchema).min(1),
  /** Seconds since the epoch. */
  iat: z.int(),
});
export type CheckpointClaims = z.infer<typeof checkpointClaimsSchema>;

/** As `GET /v1/audit/checkpoints` answers it. Only `jws` proves anything; the rest is for reading. */
export interface Checkpoint {
  readonly tenant: string;
  readonly size: number;
  readonly ledgers: readonly LedgerHead[];
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

/** Signs the heads of a tenant's ledgers as they stand. `nowMs`: milliseconds since the epoch. */
export function signCheckpoint(
  signer: CheckpointSigner,
  { tenant, ledgers }: { readonly tenant: string; readonly ledgers: readonly LedgerHead[] },
  nowMs: number,
): Checkpoint {
  const iat = Math.floor(nowMs / 1000);
  const size = ledgers.reduce((sum, ledger) => sum + ledger.size, 0);
  const claims: CheckpointClaims = { iss: 'countersign-telemetry', tenant, size, ledgers: [...ledgers], iat };
  const signed = `${encode({ alg: 'EdDSA', kid: signer.kid, typ: CHECKPOINT_JWS_TYPE })}.${encode(claims)}`;
  const jws = `${signed}.${sign(null, Buffer.from(signed), signer.privateKey).toString('base64url')}`;
  return { tenant, size, ledgers, kid: signer.kid, time: timeOf(iat), jws };
}

const timeOf = (iat: number): string => new Date(iat * 1000).toISOString();

/** A checkpoint of ours as it was signed, to be shown; nothing is verified. @throws ZodError when it is none */
export function showCheckpoint(jws: string, kid: string): Checkpoint {
  const { tenant, size, ledgers, iat } = checkpointClaimsSchema.parse(decode(jws.split('.')[1]));
  return { tenant, size, ledgers, kid, time: timeOf(iat), jws };
}

/** Public keys by key id. @throws ZodError or TypeError when one is no Ed25519 JWK or its kid is not its thumbprint */
export const importKeys = (jwks: readonly unknown[]): ReadonlyMap<string, KeyObject> =>
  new Map(jwks.map(importPublicKey).map(({ kid, key }) => [kid, key]));

export type CheckedCheckpoint =
  | { readonly ok: true; readonly claims: CheckpointClaims }
  | { readonly ok: false; readonly tenant: string; readonly size: number; readonly reason: string };

/** Checks form, type, algorithm, key and signature; nothing of a record. */
export function checkCheckpoint(jws: string, keys: ReadonlyMap<string, KeyObject>): CheckedCheckpoint {
  const [header, payload, signature, ...rest] = jws.split('.');
  const claims = checkpointClaimsSchema.safeParse(decode(payload));
  const no = (reason: string): CheckedCheckpoint => ({
    ok: false,
    tenant: claims.data?.tenant ?? '',
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
  if (!claims.success) return no('its claims are malformed');
  const { tenant, ledgers, size } = claims.data;
  const names = new Set(ledgers.map(({ ledger }) => ledger));
  const ofTenant = ledgers.every(({ ledger }) => readLedgerName(ledger)?.tenant === tenant);
  if (names.size < ledgers.length || !ofTenant || ledgers.reduce((sum, ledger) => sum + ledger.size, 0) !== size)
    return no('the heads in it do not fit together');
  return { ok: true, claims: claims.data };
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function decode(segment: string | undefined): unknown {
  try {
    return JSON.parse(Buffer.from(segment ?? '', 'base64url').toString()) as unknown;
  } catch {
    return null;
  }
}
