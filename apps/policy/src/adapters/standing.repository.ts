import type { Principal, StandingScope } from '#contracts';
import type { Sql, Tx } from '#persistence';
import type { Standing } from '../domain/standing.ts';

interface Row {
  standing_id: string;
  tenant: string;
  scope: string;
  granted_by: string;
}

const standingOf = (row: Row): Standing => ({
  standingId: row.standing_id,
  tenant: row.tenant,
  scope: JSON.parse(row.scope) as StandingScope,
  grantedBy: JSON.parse(row.granted_by) as Principal,
});

/** Usable ones of these contracts, in the order of their ids, in which all take them. */
export async function usableStandings(
  sql: Sql,
  asked: readonly { readonly tenant: string; readonly contractDigest: string }[],
): Promise<Standing[]> {
  const rows = await sql.query<Row>({
    name: 'usable-standings',
    text: `select distinct standing_id, s.tenant, scope, granted_by
             from unnest($1::text[], $2::text[]) as a (tenant, contract_digest)
             join standing_grant s on s.tenant = a.tenant and s.contract_digest = a.contract_digest
            where revoked_at is null and expires_at > now() and uses < max_uses order by standing_id`,
    values: [asked.map((a) => a.tenant), asked.map((a) => a.contractDigest)],
  });
  return rows.map(standingOf);
}

/** Holds them until the transaction ends, in the order of their ids: who takes uses of one takes turns. */
export async function holdStandings(tx: Tx, standingIds: readonly string[]): Promise<void> {
  if (standingIds.length === 0) return;
  await tx.query({
    name: 'hold-standings',
    text: `select standing_id from standing_grant where standing_id = any($1::text[]) order by standing_id for update`,
    values: [standingIds],
  });
}

export interface StandingUse {
  readonly standingId: string;
  readonly tenant: string;
  readonly callId: string;
  readonly pool: string;
  readonly amount: number;
}

/** Counts one use, if it is left (S3). A call that has one already gets no other. @returns whether it was counted */
export async function takeUse(tx: Tx, { standingId, tenant, callId, pool, amount }: StandingUse): Promise<boolean> {
  const inserted = await tx.change({
    name: 'insert-standing-use',
    text: `insert into standing_use (call_id, standing_id, tenant, pool, amount) values ($1, $2, $3, $4, $5) on conflict do nothing`,
    values: [callId, standingId, tenant, pool, amount],
  });
  if (inserted === 0) return false;
  const counted = await tx.change({
    name: 'count-standing-use',
    text: `update standing_grant set uses = uses + 1, amount_used = amount_used + $3
            where standing_id = $1 and tenant = $2 and revoked_at is null and expires_at > now() and uses < max_uses
              and (total_amount is null or amount_used + $3 <= total_amount)`,
    values: [standingId, tenant, amount],
  });
  if (counted === 1) return true;
  await tx.change({ name: 'drop-standing-use', text: `delete from standing_use where call_id = $1`, values: [callId] });
  return false;
}

/** A use comes back (S4); one that was given back before changes nothing. @param pool null = policy itself says so */
export async function giveBackUses(
  sql: Sql,
  uses: readonly { readonly callId: string; readonly tenant: string; readonly pool: string | null }[],
): Promise<void> {
  if (uses.length === 0) return;
  await sql.change({
    name: 'give-back-standing-uses',
    text: `with gone as (
             delete from standing_use u using unnest($1::text[], $2::text[], $3::text[]) as b (call_id, tenant, pool)
              where u.call_id = b.call_id and u.tenant = b.tenant and (b.pool is null or u.pool = b.pool)
             returning u.standing_id, u.amount),
           back as (select standing_id, count(*)::int as uses, sum(amount)::bigint as amount from gone group by standing_id)
           update standing_grant s set uses = s.uses - back.uses, amount_used = s.amount_used - back.amount
             from back where s.standing_id = back.standing_id`,
    values: [uses.map((u) => u.callId), uses.map((u) => u.tenant), uses.map((u) => u.pool)],
  });
}

/** When the call's standing grant ends, in epoch milliseconds; null when it may be used no more (S5). */
export async function liveUntil(tx: Tx, standingId: string): Promise<number | null> {
  const rows = await tx.query<{ until: number }>({
    name: 'standing-live-until',
    text: `select (extract(epoch from expires_at) * 1000)::float8 as until from standing_grant
            where standing_id = $1 and revoked_at is null and expires_at > now() for share`,
    values: [standingId],
  });
  return rows[0]?.until ?? null;
}

export async function insertStanding(
  tx: Tx,
  standing: Standing & { at: number; reason: string | null },
): Promise<boolean> {
  const { standingId, tenant, scope, grantedBy, at, reason } = standing;
  const inserted = await tx.change({
    name: 'insert-standing',
    text: `insert into standing_grant (standing_id, tenant, contract_digest, scope, max_uses, total_amount, expires_at, granted_by, granted_at, reason)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing`,
    values: [
      standingId,
      tenant,
      scope.contractDigest,
      JSON.stringify(scope),
      scope.uses,
      scope.totalAmount,
      scope.expiresAt,
      JSON.stringify(grantedBy),
      at,
      reason,
    ],
  });
  return inserted === 1;
}

/** @returns null when there is none of the tenant */
export async function lockStanding(
  tx: Tx,
  tenant: string,
  standingId: string,
): Promise<(Standing & { revoked: boolean }) | null> {
  const rows = await tx.query<Row & { revoked: boolean }>({
    name: 'lock-standing',
    text: `select standing_id, tenant, scope, granted_by, revoked_at is not null as revoked from standing_grant
            where tenant = $1 and standing_id = $2 for update`,
    values: [tenant, standingId],
  });
  return rows[0] ? { ...standingOf(rows[0]), revoked: rows[0].revoked } : null;
}

export async function revokeStanding(tx: Tx, standingId: string, by: Principal, at: number): Promise<void> {
  await tx.change({
    name: 'revoke-standing',
    text: `update standing_grant set revoked_by = $2, revoked_at = $3 where standing_id = $1 and revoked_at is null`,
    values: [standingId, JSON.stringify(by), at],
  });
}
