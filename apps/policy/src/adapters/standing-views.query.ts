import type { Principal, StandingScope } from '#contracts';
import type { Sql } from '#persistence';

/** What people see of a standing grant. Times are RFC 3339. */
export interface StandingView extends StandingScope {
  readonly standingId: string;
  readonly tenant: string;
  readonly status: 'active' | 'used_up' | 'expired' | 'revoked';
  readonly used: number;
  readonly amountUsed: number;
  readonly grantedBy: string;
  readonly grantedAt: string;
  readonly reason: string | null;
  readonly revokedBy: string | null;
}

interface Row {
  standing_id: string;
  tenant: string;
  scope: string;
  status: StandingView['status'];
  uses: number;
  amount_used: number;
  granted_by: string;
  granted_at: number;
  reason: string | null;
  revoked_by: string | null;
}

const COLUMNS = `standing_id, tenant, scope, uses, amount_used::float8 as amount_used, granted_by, granted_at, reason, revoked_by,
  case when revoked_at is not null then 'revoked' when expires_at <= now() then 'expired'
       when uses >= max_uses then 'used_up' else 'active' end as status`;

const viewOf = (row: Row): StandingView => ({
  ...(JSON.parse(row.scope) as StandingScope),
  standingId: row.standing_id,
  tenant: row.tenant,
  status: row.status,
  used: row.uses,
  amountUsed: row.amount_used,
  grantedBy: (JSON.parse(row.granted_by) as Principal).id,
  grantedAt: new Date(row.granted_at).toISOString(),
  reason: row.reason,
  revokedBy: row.revoked_by === null ? null : (JSON.parse(row.revoked_by) as Principal).id,
});

export interface StandingsAsked {
  readonly tenant: string;
  /** Default 50, at most 200. */
  readonly limit?: number;
  readonly after?: string;
}

/** A page of a tenant's standing grants, oldest first. */
export async function listStandings(sql: Sql, { tenant, limit: wanted, after }: StandingsAsked) {
  const limit = Math.min(wanted ?? 50, 200);
  const rows = await sql.query<Row>({
    name: 'list-standings',
    text: `select ${COLUMNS} from standing_grant
            where tenant = $1 and ($2::text is null or (granted_at, standing_id) >
                  (select granted_at, standing_id from standing_grant where tenant = $1 and standing_id = $2))
            order by granted_at, standing_id limit $3`,
    values: [tenant, after ?? null, limit],
  });
  return { items: rows.map(viewOf), next: rows.length === limit ? rows.at(-1)!.standing_id : null };
}

/** null when there is none, or it is another tenant's (G12). */
export async function findStanding(sql: Sql, tenant: string, standingId: string): Promise<StandingView | null> {
  const rows = await sql.query<Row>({
    name: 'find-standing',
    text: `select ${COLUMNS} from standing_grant where tenant = $1 and standing_id = $2`,
    values: [tenant, standingId],
  });
  return rows[0] ? viewOf(rows[0]) : null;
}
