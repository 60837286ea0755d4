import type { Sql } from '#persistence';

export interface WholeRecord {
  readonly callId: string;
  /** Null: it is kept for longer. */
  readonly settlement: string | null;
}

/** The next whole records after this callId, in order. @param keepMs milliseconds since the settlement */
export async function wholeRecords(
  sql: Sql,
  pool: string,
  after: string,
  limit: number,
  keepMs: number,
): Promise<WholeRecord[]> {
  return sql.query<{ callId: string; settlement: string | null }>({
    name: 'journal-whole',
    text: 'select call_id as "callId", settlement from journal_whole($1, $2, $3, $4)',
    values: [pool, after, limit, keepMs],
  });
}

/** @returns how many were shrunk here; others were by another replica */
export async function shrinkRecords(
  sql: Sql,
  pool: string,
  records: readonly { readonly callId: string; readonly settlement: string }[],
): Promise<number> {
  const [row] = await sql.query<{ shrunk: number }>({
    name: 'journal-shrink',
    text: 'select journal_shrink($1, $2, $3) as shrunk',
    values: [pool, records.map(({ callId }) => callId), records.map(({ settlement }) => settlement)],
  });
  return row!.shrunk;
}
