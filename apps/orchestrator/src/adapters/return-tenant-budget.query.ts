import type { Sql } from '#persistence';

/** Gives back what is left of all slices of an owner; what was used stays. */
export async function returnTenantBudget(sql: Sql, owner: string): Promise<void> {
  await sql.query({
    name: 'return-tenant-budget',
    text: `with mine as (
             delete from tenant_budget_slice where owner = $1 returning tenant, period, kind, used
           )
           update tenant_budget b set used = b.used + m.used from mine m
            where b.tenant = m.tenant and b.period = m.period and b.kind = m.kind`,
    values: [owner],
  });
}
