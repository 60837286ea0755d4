import type { Sql } from '#persistence';

/** Makes the highest published version of each tool the live one. */
export async function raiseLiveVersions(sql: Sql, tenant: string, tools: readonly string[]): Promise<void> {
  await sql.change({
    name: 'raise-live-versions',
    text: `insert into live_version (tenant, tool, version)
           select distinct on (tool) tenant, tool, version from tool_version
            where tenant = $1 and tool = any($2::text[])
            order by tool, string_to_array(version, '.')::numeric[] desc
           on conflict (tenant, tool) do update set version = excluded.version
            where live_version.version <> excluded.version`,
    values: [tenant, tools],
  });
}
