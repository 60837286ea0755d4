import type { Sql } from '#persistence';
import type { AuditRecord, LedgerHead } from '../domain/chain-events.ts';

/** Records and the new heads of their ledgers, in one statement. */
export async function insertRecords(
  sql: Sql,
  records: readonly AuditRecord[],
  heads: readonly LedgerHead[],
): Promise<void> {
  await sql.query({
    name: 'insert-audit-records',
    text: `with head as (
             update ledger l set last_seq = h.seq, last_digest = h.digest
               from unnest($7::text[], $8::bigint[], $9::text[]) as h (tenant, seq, digest) where l.tenant = h.tenant
           )
           insert into audit_record (tenant, seq, event_id, run_id, call_id, event)
           select * from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[])`,
    values: [
      records.map((record) => record.tenant),
      records.map((record) => record.seq),
      records.map((record) => record.eventId),
      records.map((record) => record.runId),
      records.map((record) => record.callId),
      records.map((record) => record.event),
      heads.map((head) => head.tenant),
      heads.map((head) => head.lastSeq),
      heads.map((head) => head.lastDigest),
    ],
  });
}
