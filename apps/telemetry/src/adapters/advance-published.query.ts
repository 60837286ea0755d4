import type { Sql } from '#persistence';
import type { PublishedSpan } from '../work/audit-publisher.ts';

/** Moves `published_seq` over spans that begin right after it (or before it). Losing this commit costs a repeat, no more. */
export async function advancePublished(sql: Sql, spans: readonly PublishedSpan[]): Promise<void> {
  // Of each ledger one span at a time: there are several only where something lies between them.
  const seen = new Map<string, number>();
  const rounds = Map.groupBy(spans, ({ tenant, partition }) => {
    const round = seen.get(`${tenant}/${partition}`) ?? 0;
    seen.set(`${tenant}/${partition}`, round + 1);
    return round;
  });
  for (const round of rounds.values())
    await sql.change({
      name: 'advance-published',
      text: `with off as (select set_config('synchronous_commit', 'off', true)),
                  held as (
                    select l.tenant, l.part, s.first, s.last
                      from off cross join unnest($1::text[], $2::integer[], $3::bigint[], $4::bigint[]) as s (tenant, part, first, last)
                      join ledger l on l.tenant = s.tenant and l.part = s.part
                     order by l.tenant, l.part for update of l)
             update ledger l set published_seq = held.last from held
              where l.tenant = held.tenant and l.part = held.part
                and l.published_seq >= held.first - 1 and l.published_seq < held.last`,
      values: [
        round.map(({ tenant }) => tenant),
        round.map(({ partition }) => partition),
        round.map(({ from }) => from),
        round.map(({ to }) => to),
      ],
    });
}
