import type { Sql } from '#persistence';
import type { AuditRecord } from '../domain/chain-events.ts';

const LIMIT = 1000;

/** The first records behind each ledger's `published_seq`; those of the last seconds only if `all`. */
export function readUnpublished(sql: Sql, all: boolean): Promise<AuditRecord[]> {
  return sql.query<AuditRecord>({
    name: all ? 'read-all-unpublished' : 'read-unpublished',
    text: `select r.tenant, r.part as partition, r.seq, r.event_id as "eventId", r.run_id as "runId", r.call_id as "callId", r.event
             from ledger l
             cross join lateral (
               select * from audit_record a
                where a.tenant = l.tenant and a.part = l.part
                  and a.seq > l.published_seq and a.seq <= l.published_seq + ${LIMIT}
                  ${all ? '' : `and a.recorded_at < now() - interval '5 seconds'`}
                order by a.seq) r
            where l.published_seq < l.last_seq
            order by r.tenant, r.part, r.seq limit ${LIMIT}`,
  });
}
