import type { Sql } from '#persistence';
import type { ChainedRecord, LedgerState } from '../domain/chain-events.ts';

/** Records and the new states of their ledgers, in one statement. */
export async function insertRecords(
  sql: Sql,
  records: readonly ChainedRecord[],
  states: readonly LedgerState[],
): Promise<void> {
  await sql.query({
    name: 'insert-audit-records',
    text: `with moved as (
             update ledger l set last_seq = s.seq, last_digest = s.digest
               from unnest($8::text[], $9::integer[], $10::bigint[], $11::text[]) as s (tenant, part, seq, digest)
              where l.tenant = s.tenant and l.part = s.part
           )
           insert into audit_record (tenant, part, seq, event_id, run_id, call_id, event, digest)
           select * from unnest($1::text[], $2::integer[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $12::bytea[])`,
    values: [
      records.map((record) => record.tenant),
      records.map((record) => record.partition),
      records.map((record) => record.seq),
      records.map((record) => record.eventId),
      records.map((record) => record.runId),
      records.map((record) => record.callId),
      records.map((record) => record.event),
      states.map((state) => state.tenant),
      states.map((state) => state.partition),
      states.map((state) => state.lastSeq),
      states.map((state) => state.lastDigest),
      records.map((record) => record.digest),
    ],
  });
}
