import pg from 'pg';
import { importSigningKey, type SigningKey } from '#grants';

/** Policy's own signing key, read from its schema: only test wiring can, to make grants that nobody else could. */
export async function policySigningKey(databaseUrl: string): Promise<SigningKey> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    const { rows } = await client.query<{ private_jwk: unknown }>(
      'select private_jwk from policy.signing_key where active',
    );
    return importSigningKey(rows[0]!.private_jwk);
  } finally {
    await client.end();
  }
}
