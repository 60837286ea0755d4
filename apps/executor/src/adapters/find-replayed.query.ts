import type { Sql } from '#persistence';

/** Which of these calls have outcomes that still stand and that other runs were answered with (J15). */
export async function findReplayed(sql: Sql, callIds: readonly string[]): Promise<Set<string>> {
  const rows = await sql.query<{ callId: string }>({
    name: 'find-replayed',
    text: 'select call_id as "callId" from journal_find_replayed($1)',
    values: [callIds],
  });
  return new Set(rows.map(({ callId }) => callId));
}
