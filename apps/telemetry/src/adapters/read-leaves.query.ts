import type { LedgerId } from '#contracts';
import type { Sql } from '#persistence';

/** Records of a ledger, by their numbers. */
export interface Span extends LedgerId {
  readonly from: number;
  readonly to: number;
}

export interface Leaf extends LedgerId {
  readonly seq: number;
  readonly digest: Buffer;
}

/** Digests of records, by ledger and number. */
export function readLeaves(sql: Sql, spans: readonly Span[]): Promise<Leaf[]> {
  return sql.query<Leaf>({
    name: 'read-leaves',
    text: `select r.tenant, r.part as partition, r.seq, r.digest
             from unnest($1::text[], $2::integer[], $3::bigint[], $4::bigint[]) as s (tenant, part, first, last)
             join audit_record r on r.tenant = s.tenant and r.part = s.part and r.seq between s.first and s.last
            order by r.tenant, r.part, r.seq`,
    values: [
      spans.map(({ tenant }) => tenant),
      spans.map(({ partition }) => partition),
      spans.map(({ from }) => from),
      spans.map(({ to }) => to),
    ],
  });
}
