import { CountersignError, InfrastructureError } from '#kernel';
import { Database } from '#persistence';

/** What the operator can repair, by the SQLSTATE of the refusal. */
const REFUSALS: Readonly<Record<string, string>> = {
  '28000': 'refuses the user; correct user and password',
  '28P01': 'refuses the user or the password; correct them',
  '3D000': 'has no such database; create it, or correct the name',
  '42501': 'does not let the user in; grant what is missing',
};

/**
 * Asks a database once, before anything is opened, so that a wrong setting is told as such and not as the first failed statement.
 * @throws CountersignError INVALID_ARGS when the setting is wrong, InfrastructureError when nobody answers; both name the setting, never the password
 */
export async function checkDatabase(setting: string, url: string): Promise<void> {
  const place = placeOf(setting, url);
  const database = new Database({ url, schema: 'public', max: 1 });
  try {
    await database.query({ text: 'select 1' });
  } catch (error) {
    const code = codeOf(error);
    const refusal = REFUSALS[code];
    if (refusal !== undefined)
      throw new CountersignError('INVALID_ARGS', `${setting}: PostgreSQL at ${place} ${refusal} (${code}).`, {
        cause: error,
      });
    throw new InfrastructureError(
      `No PostgreSQL answers at ${place} (${code}). Start it, or correct ${setting}.`,
      error,
    );
  } finally {
    await database.close();
  }
}

function placeOf(setting: string, url: string): string {
  const parsed = URL.parse(url);
  const host = parsed?.host || parsed?.searchParams.get('host');
  if (!parsed || !host)
    throw new CountersignError(
      'INVALID_ARGS',
      `${setting} is not an address; expected postgresql://user:password@host:5432/database.`,
    );
  return `${host}${parsed.pathname}`;
}

/** The driver's own code or text, which stands behind our error. */
function codeOf(error: unknown): string {
  const driver = (error instanceof CountersignError ? error.cause : error) as { code?: string; message?: string };
  return driver?.code ?? driver?.message ?? String(error);
}
