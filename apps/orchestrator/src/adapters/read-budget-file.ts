import { readFile } from 'node:fs/promises';
import { CountersignError } from '#kernel';
import { readTenantBudgets, type TenantBudgets } from '../domain/tenant-budget.ts';

const SETTING = 'COUNTERSIGN_TENANT_BUDGETS';

/** @throws CountersignError INVALID_ARGS with every fault of the file */
export async function readBudgetFile(file: string): Promise<TenantBudgets> {
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new CountersignError('INVALID_ARGS', `${SETTING}: ${file} cannot be read (${cause.code})`, { cause });
  });
  const read = readTenantBudgets(text);
  if (!('faults' in read) || !Array.isArray(read.faults)) return read as TenantBudgets;
  throw new CountersignError('INVALID_ARGS', `${SETTING}: ${file}: ${read.faults.join('; ')}`);
}
