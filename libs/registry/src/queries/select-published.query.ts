import type { PublishedContract } from '#contracts';
import type { Sql } from '#persistence';

/** What people said of a version, or of all versions of its tool; quarantined goes before deprecated. */
export type Standing = 'quarantined' | 'deprecated';
export interface StandingContract extends PublishedContract {
  readonly standing?: Standing;
}

const STANDING = `(select max(s.standing) from tool_standing s
                    where s.tenant = v.tenant and s.tool = v.tool and s.version in ('', v.version)) as standing`;
type Found = PublishedContract & { readonly standing: Standing | null };
const toStanding = ({ standing, ...published }: Found): StandingContract =>
  standing ? { ...published, standing } : published;

/** The live version of each tool of a tenant, by name. */
export async function selectLive(sql: Sql, tenant: string, limit: number): Promise<StandingContract[]> {
  const rows = await sql.query<Found>({
    name: 'select-live-contracts',
    text: `select c.digest, c.body as contract, ${STANDING}
             from live_version l
             join tool_version v on (v.tenant, v.tool, v.version) = (l.tenant, l.tool, l.version)
             join contract c on c.digest = v.digest
            where l.tenant = $1 order by l.tool limit $2`,
    values: [tenant, limit],
  });
  return rows.map(toStanding);
}

/** One version of a tool, or the live one when `version` is null. */
export async function selectPublished(
  sql: Sql,
  tenant: string,
  tool: string,
  version: string | null,
): Promise<StandingContract | null> {
  const rows = await sql.query<Found>({
    name: 'select-published-contract',
    text: `select c.digest, c.body as contract, ${STANDING}
             from tool_version v join contract c on c.digest = v.digest
            where v.tenant = $1 and v.tool = $2
              and v.version = coalesce($3, (select l.version from live_version l where l.tenant = $1 and l.tool = $2))`,
    values: [tenant, tool, version],
  });
  return rows[0] ? toStanding(rows[0]) : null;
}

export async function selectByDigest(sql: Sql, digest: string): Promise<PublishedContract | null> {
  const rows = await sql.query<PublishedContract>({
    name: 'select-contract-by-digest',
    text: `select digest, body as contract from contract where digest = $1`,
    values: [digest],
  });
  return rows[0] ?? null;
}
