import { readFile } from 'node:fs/promises';
import { tenantSchema } from '#contracts';
import { CountersignError } from '#kernel';

const SETTING = 'COUNTERSIGN_SUSPENDED_TENANTS';

/** One tenant a line; `#` begins a comment. @throws CountersignError INVALID_ARGS with every fault of the file */
export async function readSuspendedTenants(file: string): Promise<ReadonlySet<string>> {
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new CountersignError('INVALID_ARGS', `${SETTING}: ${file} cannot be read (${cause.code})`, { cause });
  });
  const lines = text.split('\n').map((line) => line.replace(/#.*/, '').trim());
  const faults = lines.flatMap((line, index) =>
    line === '' || tenantSchema.safeParse(line).success ? [] : [`line ${index + 1} is not the name of a tenant`],
  );
  if (faults.length > 0)
    throw new CountersignError('INVALID_ARGS', `${SETTING}: ${file}: expected one tenant a line; ${faults.join('; ')}`);
  return new Set(lines.filter((line) => line !== ''));
}
