import type { Sql } from '#persistence';

export interface AuditQuestion {
  readonly tenant: string;
  /** Sequence number after which to go on; 0 = from the beginning. */
  readonly after: number;
  readonly limit: number;
  readonly runId?: string | undefined;
  readonly callId?: string | undefined;
}

export interface StoredRecord {
  readonly seq: number;
  readonly event: string;
}

/** In the order of the ledger. */
export function readRecords(sql: Sql, { tenant, after, limit, runId, callId }: AuditQuestion): Promise<StoredRecord[]> {
  const values = [tenant, after, limit];
  if (runId === undefined) {
    const text = 'select seq, event from audit_record where tenant = $1 and seq > $2 order by seq limit $3';
    return sql.query<StoredRecord>({ name: 'read-records', text, values });
  }
  return sql.query<StoredRecord>({
    name: 'read-records-of-run',
    text: `select seq, event from audit_record
            where tenant = $1 and seq > $2 and run_id = $4 and ($5::text is null or call_id = $5) order by seq limit $3`,
    values: [...values, runId, callId ?? null],
  });
}

export async function countRecords(sql: Sql, tenant: string, runIds: readonly string[] | undefined): Promise<number> {
  const [row] = runIds
    ? await sql.query<{ n: number }>({
        name: 'count-records-of-runs',
        text: 'select count(*) as n from audit_record where tenant = $1 and run_id = any($2::text[])',
        values: [tenant, runIds],
      })
    : // C1: numbers are dense, so the last one is the count
      await sql.query<{ n: number }>({
        name: 'count-records',
        text: 'select last_seq as n from ledger where tenant = $1',
        values: [tenant],
      });
  return row?.n ?? 0;
}
