import type { Sql } from '#persistence';

export interface StoredVersion {
  readonly tool: string;
  readonly version: string;
  readonly digest: string;
}

/** What stands in the registry under these names and versions. */
export function selectVersions(
  sql: Sql,
  tenant: string,
  wanted: readonly Pick<StoredVersion, 'tool' | 'version'>[],
): Promise<StoredVersion[]> {
  return sql.query<StoredVersion>({
    name: 'select-versions',
    text: `select v.tool, v.version, v.digest
             from unnest($2::text[], $3::text[]) as w(tool, version)
             join tool_version v on v.tenant = $1 and v.tool = w.tool and v.version = w.version`,
    values: [tenant, wanted.map((w) => w.tool), wanted.map((w) => w.version)],
  });
}
