import { z } from 'zod';
import { integerSetting, listSetting } from '#runtime';
import { readTenantBudgets, type TenantBudgets } from './domain/tenant-budget.ts';

/** Limits as they stand in the setting, or the file to read them from. */
export type TenantBudgetSetting = { readonly budgets: TenantBudgets } | { readonly file: string };

function readSetting(text: string, context: z.RefinementCtx): TenantBudgetSetting {
  if (!text.trimStart().startsWith('{')) return { file: text };
  const read = readTenantBudgets(text);
  if (!Array.isArray(read.faults)) return { budgets: read as TenantBudgets };
  for (const message of read.faults as string[]) context.addIssue({ code: 'custom', message });
  return z.NEVER;
}

export const orchestratorSettings = {
  COUNTERSIGN_POOLS: listSetting('default').describe('all executor pools of the installation'),
  COUNTERSIGN_ORCHESTRATOR_SWEEP_MS: integerSetting(1000, 10, 60_000).describe(
    'milliseconds between looks for runs whose wall clock or re-drive is due',
  ),
  COUNTERSIGN_TENANT_BUDGETS: z
    .string()
    .default('{}')
    .transform(readSetting)
    .describe(
      'what all runs of a tenant may use together in a day or a month (UTC), as JSON by tenant ("*": every other): {"*":{"day":{"calls":1000,"tokens":2000000,"costUsd":20}}}; or a file with it, read again when it changes; the same for all orchestrators',
    ),
} as const;
