import type { Sql } from '#persistence';
import type { LedgerHead } from '../domain/chain-events.ts';

const lock = (sql: Sql, tenants: readonly string[]): Promise<LedgerHead[]> =>
  sql.query<LedgerHead>({
    name: 'lock-ledgers',
    text: `select tenant, last_seq as "lastSeq", last_digest as "lastDigest" from ledger
            where tenant = any($1::text[]) order by tenant for update`,
    values: [tenants],
  });

/** The heads of the tenants' ledgers, locked until the transaction ends. `tenants` is sorted. */
export async function lockLedgers(sql: Sql, tenants: readonly string[]): Promise<LedgerHead[]> {
  const heads = await lock(sql, tenants);
  if (heads.length === tenants.length) return heads;
  await sql.change({
    text: 'insert into ledger (tenant) select unnest($1::text[]) on conflict (tenant) do nothing',
    values: [tenants],
  });
  return lock(sql, tenants);
}
