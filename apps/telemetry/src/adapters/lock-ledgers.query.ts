import type { LedgerId } from '#contracts';
import type { Sql } from '#persistence';
import type { LedgerState } from '../domain/chain-events.ts';

type Wait = 'wait' | 'skip';

const lock = (sql: Sql, values: readonly unknown[], wait: Wait): Promise<LedgerState[]> =>
  sql.query<LedgerState>({
    name: `lock-ledgers-${wait}`,
    text: `select l.tenant, l.part as partition, l.last_seq as "lastSeq", l.last_digest as "lastDigest"
             from unnest($1::text[], $2::integer[]) as w (tenant, part)
             join ledger l on l.tenant = w.tenant and l.part = w.part
            order by l.tenant, l.part for update of l ${wait === 'skip' ? 'skip locked' : ''}`,
    values,
  });

/**
 * The state of the ledgers, locked until the transaction ends. `ledgers` is sorted.
 * `skip`: without those that another replica holds at the moment, or that do not exist yet.
 */
export async function lockLedgers(sql: Sql, ledgers: readonly LedgerId[], wait: Wait): Promise<LedgerState[]> {
  const values = [ledgers.map(({ tenant }) => tenant), ledgers.map(({ partition }) => partition)];
  const states = await lock(sql, values, wait);
  if (wait === 'skip' || states.length === ledgers.length) return states;
  await sql.change({
    text: `insert into ledger (tenant, part) select * from unnest($1::text[], $2::integer[])
           on conflict (tenant, part) do nothing`,
    values,
  });
  return lock(sql, values, wait);
}
