import type { Sql } from '#persistence';
import { SLICE_LEASE_MS } from './lease-tenant-budget.query.ts';

export interface SliceUse {
  readonly epoch: number;
  readonly amount: number;
  readonly over: number;
}

/** @throws an error of which `isSliceLost` is true; the transaction has failed then */
export async function useTenantBudget(sql: Sql, uses: readonly SliceUse[]): Promise<void> {
  if (uses.length === 0) return;
  await sql.query({
    name: 'use-tenant-budget',
    text: 'select use_tenant_budget($1::bigint[], $2::bigint[], $3::bigint[], $4)',
    values: [uses.map((use) => use.epoch), uses.map((use) => use.amount), uses.map((use) => use.over), SLICE_LEASE_MS],
  });
}

/** A slice was taken over, or has less room than this process thought. */
export const isSliceLost = (error: unknown): boolean => (error as { code?: unknown })?.code === 'CSB01';
