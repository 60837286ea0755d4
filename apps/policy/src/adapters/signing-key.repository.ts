import { generateSigningKey, importSigningKey, privateKeySchema, type PublicKeySet, type SigningKey } from '#grants';
import type { Database } from '#persistence';

/** The key that signs; made at the first start. Replicas that start together agree: one row may be active. */
export async function openSigningKey(database: Database): Promise<SigningKey> {
  const active = async (): Promise<unknown> =>
    (await database.query<{ jwk: unknown }>({ text: 'select private_jwk as jwk from signing_key where active' }))[0]
      ?.jwk;
  const existing = await active();
  if (existing !== undefined) return importSigningKey(existing);
  const fresh = generateSigningKey();
  await database.change({
    text: `insert into signing_key (kid, private_jwk, active) values ($1, $2, true) on conflict do nothing`,
    values: [fresh.kid, JSON.stringify(fresh)],
  });
  return importSigningKey(await active());
}

/** Public halves of all keys that may still verify, and the ids of the revoked ones. */
export async function publicKeys(database: Database): Promise<PublicKeySet> {
  const rows = await database.query<{ kid: string; jwk: unknown; revoked: boolean }>({
    name: 'public-keys',
    text: `select kid, private_jwk as jwk, revoked_at is not null as revoked from signing_key order by created_at`,
  });
  const keys = rows
    .filter((row) => !row.revoked)
    .map((row) => {
      const { d: _private, ...publicJwk } = privateKeySchema.parse(row.jwk);
      return publicJwk;
    });
  return { keys, revoked: rows.filter((row) => row.revoked).map((row) => row.kid) };
}
