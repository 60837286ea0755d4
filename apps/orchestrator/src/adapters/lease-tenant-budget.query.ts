import type { Sql } from '#persistence';
import type { Need } from '../domain/tenant-use.ts';

/** Without a use for this long a slice may be taken over. Milliseconds. */
export const SLICE_LEASE_MS = 30_000;
/** A lease takes at least this part of the limit, so that few are needed. */
const PART = 64;

export interface LeasedSlice {
  readonly epoch: number;
  readonly left: number;
}

/** Grows the owner's slice for a need, as far as the limit leaves room. */
export async function leaseTenantBudget(sql: Sql, owner: string, need: Need): Promise<LeasedSlice> {
  const { tenant, period, kind, least, total, most } = need;
  const [slice] = await sql.query<LeasedSlice>({
    name: 'lease-tenant-budget',
    text: `select slice_epoch as epoch, slice_left as "left" from lease_tenant_budget($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [tenant, period, kind, owner, least, total, Math.ceil(most / PART), most, SLICE_LEASE_MS],
  });
  return slice!;
}
