import type { Sql } from '#persistence';

/**
 * Takes the next numbers of each tenant: tenant → the first one taken. The counter's lock is held until the commit that
 * also inserts the runs, so the numbers have no gaps.
 */
export async function numberRuns(sql: Sql, counts: ReadonlyMap<string, number>): Promise<Map<string, number>> {
  const tenants = [...counts.keys()].sort();
  const rows = await sql.query<{ tenant: string; last: number }>({
    name: 'number-runs',
    text: `insert into run_counter (tenant, last) select * from unnest($1::text[], $2::bigint[])
           on conflict (tenant, shard) do update set last = run_counter.last + excluded.last
           returning tenant, last`,
    values: [tenants, tenants.map((tenant) => counts.get(tenant))],
  });
  return new Map(rows.map(({ tenant, last }) => [tenant, last - counts.get(tenant)! + 1]));
}
