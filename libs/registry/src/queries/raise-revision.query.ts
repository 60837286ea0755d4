import type { Sql } from '#persistence';

/** Tells the other gateways that the tenant's tools changed; the row serializes those who change them. */
export async function raiseRevision(sql: Sql, tenant: string): Promise<void> {
  await sql.change({
    name: 'raise-registry-revision',
    text: `insert into registry_revision (tenant, revision) values ($1, 1)
           on conflict (tenant) do update set revision = registry_revision.revision + 1`,
    values: [tenant],
  });
}
