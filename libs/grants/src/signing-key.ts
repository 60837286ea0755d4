import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { GRANT_ALGORITHM, GRANT_TYPE } from './grant-claims.schema.ts';

const base64url32 = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

/** RFC 8037 public key; what policy publishes and executors hold. */
export const publicKeySchema = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: base64url32,
  kid: z.string().min(1),
  alg: z.literal('EdDSA').optional(),
  use: z.literal('sig').optional(),
});
export type PublicKeyJwk = z.infer<typeof publicKeySchema>;

export const privateKeySchema = publicKeySchema.extend({ d: base64url32 });
/** Never leaves policy. */
export type PrivateKeyJwk = z.infer<typeof privateKeySchema>;

export interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicJwk: PublicKeyJwk;
  /** First segment of every token of this key, encoded once. */
  readonly header: string;
}

/** RFC 7638 thumbprint of an Ed25519 key. */
export function thumbprint(x: string): string {
  return createHash('sha256')
    .update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }))
    .digest('base64url');
}

/** A new Ed25519 key, as the JWK that policy keeps. */
export function generateSigningKey(): PrivateKeyJwk {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const { x, d } = jwk as { x: string; d: string };
  return { kty: 'OKP', crv: 'Ed25519', x, d, kid: thumbprint(x), alg: 'EdDSA', use: 'sig' };
}

/** @throws ZodError or TypeError when the JWK is no Ed25519 private key or its kid is not its thumbprint */
export function importSigningKey(value: unknown): SigningKey {
  const { d, ...publicJwk } = privateKeySchema.parse(value);
  if (publicJwk.kid !== thumbprint(publicJwk.x)) throw new TypeError('the kid is not the thumbprint of the key');
  const privateKey = createPrivateKey({ key: { ...publicJwk, d }, format: 'jwk' });
  const derived = createPublicKey(privateKey).export({ format: 'jwk' }) as { x?: string };
  if (derived.x !== publicJwk.x) throw new TypeError('the public and the private half do not belong together');
  const header = { alg: GRANT_ALGORITHM, kid: publicJwk.kid, typ: GRANT_TYPE };
  return {
    kid: publicJwk.kid,
    privateKey,
    publicJwk,
    header: Buffer.from(JSON.stringify(header)).toString('base64url'),
  };
}

/** @throws ZodError or TypeError as `importSigningKey` does */
export function importPublicKey(value: unknown): { readonly kid: string; readonly key: KeyObject } {
  const jwk = publicKeySchema.parse(value);
  if (jwk.kid !== thumbprint(jwk.x)) throw new TypeError('the kid is not the thumbprint of the key');
  return { kid: jwk.kid, key: createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: jwk.x }, format: 'jwk' }) };
}
