import type { LedgerId } from '#contracts';
import type { Sql } from '#persistence';

export interface ProvedRecord extends LedgerId {
  readonly seq: number;
  readonly event: string;
}

/** A record of the tenant; null when there is none. */
export async function findRecord(sql: Sql, tenant: string, eventId: string): Promise<ProvedRecord | null> {
  const rows = await sql.query<ProvedRecord>({
    name: 'find-record',
    text: 'select tenant, part as partition, seq, event from audit_record where tenant = $1 and event_id = $2',
    values: [tenant, eventId],
  });
  return rows[0] ?? null;
}

/** Roots over 256 records each, from the first on. */
export async function readTiles(sql: Sql, { tenant, partition }: LedgerId, count: number): Promise<Buffer[]> {
  const rows = await sql.query<{ root: Buffer }>({
    name: 'read-tiles',
    text: 'select root from ledger_tile where tenant = $1 and part = $2 and tile < $3 order by tile',
    values: [tenant, partition, count],
  });
  return rows.map(({ root }) => root);
}
