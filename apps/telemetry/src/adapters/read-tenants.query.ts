import type { Sql } from '#persistence';

/** Tenants of which anything is recorded. */
export async function readTenants(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ tenant: string }>({
    name: 'read-audited-tenants',
    text: 'select distinct tenant from ledger order by tenant',
    values: [],
  });
  return rows.map(({ tenant }) => tenant);
}
