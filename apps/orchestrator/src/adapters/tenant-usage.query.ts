import type { Sql } from '#persistence';

export interface MeterUse {
  readonly period: string;
  readonly kind: string;
  /** Reserved and spent, in the meter's unit. */
  readonly used: number;
}

/** What a tenant has used in these periods. */
export function tenantUsage(sql: Sql, tenant: string, periods: readonly string[]): Promise<MeterUse[]> {
  return sql.query<MeterUse>({
    name: 'tenant-usage',
    text: `select period, kind, sum(used)::bigint as used
             from (select period, kind, used from tenant_budget where tenant = $1 and period = any($2::text[])
                   union all
                   select period, kind, used from tenant_budget_slice where tenant = $1 and period = any($2::text[])) u
            group by period, kind`,
    values: [tenant, periods],
  });
}
