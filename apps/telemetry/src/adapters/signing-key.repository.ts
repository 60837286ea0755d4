import { createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { CheckpointSigner } from '#audit';
import { generateSigningKey, importSigningKey, publicKeySchema, thumbprint, type PublicKeyJwk } from '#grants';
import { CountersignError } from '#kernel';
import type { Database } from '#persistence';

/**
 * The key that signs checkpoints: that of the file, else one that is made at the first start and kept in the database.
 * Replicas that start together agree: one row may be active.
 * @throws CountersignError INVALID_ARGS when the file holds no Ed25519 private key
 */
export async function openCheckpointKey(database: Database, file: string | undefined): Promise<CheckpointSigner> {
  if (file !== undefined) {
    const { publicJwk, ...signer } = await readKeyFile(file);
    await database.change({
      text: `insert into signing_key (kid, public_jwk, active) values ($1, $2, false) on conflict do nothing`,
      values: [signer.kid, JSON.stringify(publicJwk)],
    });
    return signer;
  }
  const active = async (): Promise<unknown> =>
    (await database.query<{ jwk: unknown }>({ text: 'select private_jwk as jwk from signing_key where active' }))[0]
      ?.jwk;
  const existing = await active();
  if (existing !== undefined) return importSigningKey(existing);
  const { d, ...publicJwk } = generateSigningKey();
  await database.change({
    text: `insert into signing_key (kid, public_jwk, private_jwk, active) values ($1, $2, $3, true) on conflict do nothing`,
    values: [publicJwk.kid, JSON.stringify(publicJwk), JSON.stringify({ ...publicJwk, d })],
  });
  return importSigningKey(await active());
}

/** Public halves of all keys that signed and were not revoked: a JWKS. */
export async function checkpointKeys(database: Database): Promise<{ keys: PublicKeyJwk[] }> {
  const rows = await database.query<{ jwk: unknown }>({
    name: 'checkpoint-keys',
    text: 'select public_jwk as jwk from signing_key where revoked_at is null order by created_at',
  });
  return { keys: rows.map((row) => publicKeySchema.parse(row.jwk)) };
}

async function readKeyFile(file: string): Promise<CheckpointSigner & { publicJwk: PublicKeyJwk }> {
  const refuse = (why: string): never => {
    throw new CountersignError(
      'INVALID_ARGS',
      `COUNTERSIGN_AUDIT_KEY_FILE: ${file} ${why}. Make one with: openssl genpkey -algorithm ed25519 -out ${file}`,
    );
  };
  const pem = await readFile(file).catch(() => refuse('cannot be read'));
  let jwk: { crv?: string; x?: string };
  let privateKey: CheckpointSigner['privateKey'];
  try {
    privateKey = createPrivateKey(pem);
    jwk = privateKey.export({ format: 'jwk' });
  } catch {
    return refuse('holds no private key in PEM form');
  }
  if (jwk.crv !== 'Ed25519' || jwk.x === undefined) return refuse('holds a key of another kind than Ed25519');
  const kid = thumbprint(jwk.x);
  return {
    kid,
    privateKey,
    publicJwk: { kty: 'OKP', crv: 'Ed25519', x: jwk.x, kid, alg: 'EdDSA', use: 'sig' },
  };
}
