import type { Sql } from '#persistence';

/** Which of these events are recorded already. */
export async function findRecorded(sql: Sql, eventIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ event_id: string }>({
    name: 'find-recorded',
    text: 'select event_id from audit_record where event_id = any($1::text[])',
    values: [eventIds],
  });
  return new Set(rows.map((row) => row.event_id));
}
