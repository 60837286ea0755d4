import type { Sql } from '#persistence';
import type { ToolHistoryEntry } from '../tool-changes.port.ts';

export interface VersionRow {
  readonly digest: string;
  readonly tool: string;
  readonly version: string;
  /** JSON text of the contract. */
  readonly body: string;
}

/** Inserts what is new of the contracts and versions; what is there already stays. Give the rows sorted by tool and version. */
export async function insertVersions(
  sql: Sql,
  tenant: string,
  rows: readonly VersionRow[],
  publisher: string,
): Promise<ToolHistoryEntry[]> {
  await sql.change({
    name: 'insert-contracts',
    text: `insert into contract (digest, body) select * from unnest($1::text[], $2::jsonb[]) on conflict do nothing`,
    values: [rows.map((r) => r.digest), rows.map((r) => r.body)],
  });
  const added = await sql.query<{ tool: string; version: string; digest: string; changeNo: number }>({
    name: 'insert-versions',
    text: `with added as (
             insert into tool_version (tenant, tool, version, digest)
             select $1, * from unnest($2::text[], $3::text[], $4::text[]) on conflict do nothing
             returning tool, version, digest
           )
           insert into tool_change (tenant, tool, version, digest, change, changed_by)
           select $1, tool, version, digest, 'published', $5 from added
           returning tool, version, digest, change_no as "changeNo"`,
    values: [tenant, rows.map((r) => r.tool), rows.map((r) => r.version), rows.map((r) => r.digest), publisher],
  });
  return added.map((one) => ({ ...one, change: 'published', by: publisher, reason: null }));
}
