import type { Sql } from '#persistence';
import type { StoredCall } from '../domain/show-views.ts';

export type StoredUnknown = StoredCall & { age_ms: number; needs_human: boolean };

/** What only a person can find out first, then the oldest. */
export const listUnknowns = (
  sql: Sql,
  { tenant, limit, after }: { readonly tenant: string; readonly limit: number; readonly after?: string | undefined },
): Promise<StoredUnknown[]> =>
  sql.query<StoredUnknown>({
    name: 'list-unknowns',
    text: `with unknown as (
             select c.*, c.status in ('needs_human', 'partially_applied') or coalesce((c.error->>'humanTakeover')::boolean, false) as needs_human,
                    (extract(epoch from now() - c.settled_at) * 1000)::double precision as age_ms
               from call_view c
              where c.tenant = $1 and c.status in ('outcome_unknown', 'needs_human', 'partially_applied') and c.settled_at is not null)
           select * from unknown u
            where $3::text is null
               or (not u.needs_human, u.settled_at, u.call_id) > (select not (a.status in ('needs_human', 'partially_applied') or coalesce((a.error->>'humanTakeover')::boolean, false)), a.settled_at, a.call_id
                     from call_view a where a.tenant = $1 and a.call_id = $3)
            order by not u.needs_human, u.settled_at, u.call_id
            limit $2`,
    values: [tenant, limit, after ?? null],
  });
