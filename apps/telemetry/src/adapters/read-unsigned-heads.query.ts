import type { Sql } from '#persistence';

export interface UnsignedHead {
  readonly tenant: string;
  readonly seq: number;
  /** The record as it was published; null when it is not there, which nothing of ours does. */
  readonly event: string | null;
}

const LIMIT = 1000;

/** Last published record of each ledger (or of one) that stands beyond its last checkpoint. */
export function readUnsignedHeads(sql: Sql, tenant: string | null): Promise<UnsignedHead[]> {
  return sql.query<UnsignedHead>({
    name: 'read-unsigned-heads',
    text: `select l.tenant, l.published_seq as seq, a.event
             from ledger l left join audit_record a on a.tenant = l.tenant and a.seq = l.published_seq
            where ($1::text is null or l.tenant = $1)
              and l.published_seq > coalesce((select max(c.size) from checkpoint c where c.ledger = l.tenant), 0)
            order by l.tenant limit ${LIMIT}`,
    values: [tenant],
  });
}
