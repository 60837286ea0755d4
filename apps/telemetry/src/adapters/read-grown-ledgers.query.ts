import type { LedgerId } from '#contracts';
import type { Sql } from '#persistence';

/** A ledger beside its tree, which covers what was signed of it. */
export interface GrownLedger extends LedgerId {
  readonly published: number;
  /** Of the tree; 0 = nothing is signed. */
  readonly size: number;
  readonly head: Buffer;
  readonly peaks: Buffer;
}

const TENANTS = 200;

/**
 * All ledgers of the tenants (or of one) that have published records beyond their trees; also those that only the trees still
 * know: they were taken away.
 */
export function readGrownLedgers(sql: Sql, tenant: string | null): Promise<GrownLedger[]> {
  return sql.query<GrownLedger>({
    name: 'read-grown-ledgers',
    text: `with grown as (
             select distinct l.tenant
               from ledger l left join ledger_tree t on t.tenant = l.tenant and t.part = l.part
              where ($1::text is null or l.tenant = $1) and l.published_seq > coalesce(t.size, 0)
              order by l.tenant limit ${TENANTS})
           select tenant, part as partition, coalesce(l.published_seq, 0) as published, coalesce(t.size, 0) as size,
                  coalesce(t.head, '') as head, coalesce(t.peaks, '') as peaks
             from (select * from ledger where tenant in (select tenant from grown)) l
             full join (select * from ledger_tree where tenant in (select tenant from grown)) t using (tenant, part)
            order by tenant, part`,
    values: [tenant],
  });
}
