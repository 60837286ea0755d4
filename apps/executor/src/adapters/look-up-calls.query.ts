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
    text: `select n, state, grant_digest as "grantDigest", settlement, used_by as "usedBy", expired
             from journal_look_up($1::text[], $2::text[], $3::bigint[])`,
    values: [asked.map((a) => a.callId), asked.map((a) => a.jti), asked.map((a) => a.expiresAt)],
  });
  return rows;
}
