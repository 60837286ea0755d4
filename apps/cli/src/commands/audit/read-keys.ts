import { readFile } from 'node:fs/promises';
import { usageFailure } from '../../exit-codes.ts';

/** Public keys of a file that holds the answer of GET /v1/audit/keys. */
export async function readKeys(file: string): Promise<readonly unknown[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw usageFailure(`--keys: ${file} cannot be read (${error.code})`);
  });
  try {
    const { keys } = JSON.parse(text) as { keys?: unknown };
    if (Array.isArray(keys)) return keys as unknown[];
  } catch {
    // told below
  }
  throw usageFailure(`--keys: ${file} is not {"keys": […]}: save the answer of GET /v1/audit/keys`);
}
