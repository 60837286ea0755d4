import type { Sql } from '#persistence';

export interface LookUp {
  readonly callId: string;
  /** Of the verified grant; null where nothing could be verified. */
  readonly jti: string | null;
  /** Seconds since the epoch. */
  readonly expiresAt: number | null;
}

export interface Found {
  readonly state: string | null;
  readonly grantDigest: string | null;
  readonly settlement: string | null;
  /** The call that spent the grant. */
  readonly usedBy: string | null;
  /** By the database's clock. */
  readonly expired: boolean;
}

/** What the journal knows about calls, without changing anything; answers in order. */
export async function lookUpCalls(sql: Sql, asked: readonly LookUp[]): Promise<Found[]> {
  const rows = await sql.query<Found & { n: number }>({
    name: 'look-up-calls',
    text: `select i.n::int as n, c.state, c.grant_digest as "grantDigest",
                  convert_from(r.settlement, 'UTF8') as settlement, g.call_id as "usedBy",
                  coalesce(to_timestamp(i.expires_at) <= now(), false) as expired
             from unnest($1::text[], $2::text[], $3::bigint[]) with ordinality as i (call_id, jti, expires_at, n)
             left join call c on c.call_id = i.call_id
             left join call_result r on r.call_id = i.call_id
             left join grant_use g on g.jti = i.jti
            order by i.n`,
    values: [asked.map((a) => a.callId), asked.map((a) => a.jti), asked.map((a) => a.expiresAt)],
  });
  return rows;
}
