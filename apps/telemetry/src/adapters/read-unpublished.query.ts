import type { Sql } from '#persistence';
import type { AuditRecord } from '../domain/chain-events.ts';

interface Row {
  readonly tenant: string;
  readonly seq: number;
  readonly event_id: string;
  readonly run_id: string | null;
  readonly call_id: string | null;
  readonly event: string;
}

const LIMIT = 1000;

/** The first records behind each ledger's `published_seq`; those of the last seconds only if `all`. */
export async function readUnpublished(sql: Sql, all: boolean): Promise<AuditRecord[]> {
  const rows = await sql.query<Row>({
    name: all ? 'read-all-unpublished' : 'read-unpublished',
    text: `select r.tenant, r.seq, r.event_id, r.run_id, r.call_id, r.event
             from ledger l
             cross join lateral (
               select * from audit_record a
                where a.tenant = l.tenant and a.seq > l.published_seq and a.seq <= l.published_seq + ${LIMIT}
                  ${all ? '' : `and a.recorded_at < now() - interval '5 seconds'`}
                order by a.seq) r
            where l.published_seq < l.last_seq
            order by r.tenant, r.seq limit ${LIMIT}`,
  });
  return rows.map((row) => ({
    tenant: row.tenant,
    seq: row.seq,
    eventId: row.event_id,
    runId: row.run_id,
    callId: row.call_id,
    event: row.event,
  }));
}
