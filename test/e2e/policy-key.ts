import pg from 'pg';
import type { SigningKey } from '#grants';

/** Policy's own signing key, read from its schema: only test wiring can, to make grants that nobody else could. */
export async function policySigningKey(databaseUrl: string): Promise<SigningKey> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    const { rows } = await client.query('select * from policy.signing_key');
    return rows[0] as SigningKey;
  } finally {
    await client.end();
  }
}
