import type { AuditCursor } from '#contracts';
import type { Sql } from '#persistence';

export interface AuditQuestion {
  readonly tenant: string;
  /** How far the ledgers were read already. */
  readonly after: AuditCursor;
  readonly limit: number;
  readonly runId?: string | undefined;
  readonly callId?: string | undefined;
}

export interface StoredRecord {
  readonly partition: number;
  readonly seq: number;
  readonly event: string;
}

/** Ledger by ledger, each in its order. */
export async function readRecords(sql: Sql, question: AuditQuestion): Promise<StoredRecord[]> {
  const { tenant, after, limit, runId, callId } = question;
  if (runId !== undefined)
    return sql.query<StoredRecord>({
      name: 'read-records-of-run',
      text: `select r.part as partition, r.seq, r.event
               from audit_record r
               left join unnest($2::integer[], $3::bigint[]) as c (part, seq) on c.part = r.part
              where r.tenant = $1 and r.run_id = $5 and r.seq > coalesce(c.seq, 0)
                and ($6::text is null or r.call_id = $6) order by r.part, r.seq limit $4`,
      values: [tenant, [...after.keys()], [...after.values()], limit, runId, callId ?? null],
    });
  const records: StoredRecord[] = [];
  for (const { partition, last } of await readLedgers(sql, tenant)) {
    if ((after.get(partition) ?? 0) >= last) continue;
    const found = await sql.query<StoredRecord>({
      name: 'read-records',
      text: `select part as partition, seq, event from audit_record
              where tenant = $1 and part = $2 and seq > $3 order by seq limit $4`,
      values: [tenant, partition, after.get(partition) ?? 0, limit - records.length],
    });
    records.push(...found);
    if (records.length >= limit) break;
  }
  return records;
}

const readLedgers = (sql: Sql, tenant: string): Promise<{ partition: number; last: number }[]> =>
  sql.query({
    name: 'read-ledgers',
    text: 'select part as partition, last_seq as last from ledger where tenant = $1 order by part',
    values: [tenant],
  });

export async function countRecords(sql: Sql, tenant: string, runIds: readonly string[] | undefined): Promise<number> {
  if (runIds === undefined)
    // C2: numbers are dense, so the last one is the count
    return (await readLedgers(sql, tenant)).reduce((sum, { last }) => sum + last, 0);
  const [row] = await sql.query<{ n: number }>({
    name: 'count-records-of-runs',
    text: 'select count(*) as n from audit_record where tenant = $1 and run_id = any($2::text[])',
    values: [tenant, runIds],
  });
  return row?.n ?? 0;
}
