import type { Sql } from '#persistence';
import type { PublishedSpan } from '../work/audit-publisher.ts';

/** Moves `published_seq` over spans that begin right after it (or before it). Losing this commit costs a repeat, no more. */
export async function advancePublished(sql: Sql, spans: readonly PublishedSpan[]): Promise<void> {
  for (const span of spans) {
    await sql.change({
      name: 'advance-published',
      text: `with off as (select set_config('synchronous_commit', 'off', true))
             update ledger set published_seq = $3 from off
              where tenant = $1 and published_seq >= $2::bigint - 1 and published_seq < $3`,
      values: [span.tenant, span.from, span.to],
    });
  }
}
