import { TOPICS, type OutgoingMessage } from '#contracts';
import { digestText } from '#kernel';
import type { AuditEntry } from './audit-entries.ts';
import { DATA_VERSION } from './audit-row.ts';

/**
 * A tenant's ledger: CloudEvents 1.0 in one chain.
 *
 * C1 sequences are dense from 1; C2 each event names the digest of the one before it (empty for the first), computed
 * over the bytes that were published; C3 nothing in an event changes when it is sent again.
 */
export interface LedgerHead {
  readonly tenant: string;
  readonly lastSeq: number;
  /** `sha256:<hex>` of the last event; '' before the first. */
  readonly lastDigest: string;
}

export interface AuditRecord {
  readonly tenant: string;
  readonly seq: number;
  readonly eventId: string;
  readonly runId: string | null;
  readonly callId: string | null;
  /** JSON of the CloudEvent, as published. */
  readonly event: string;
}

export interface Chained {
  readonly records: readonly AuditRecord[];
  readonly head: LedgerHead;
}

export const digestOfEvent = (event: string): string => digestText('audit/v1', event);

export function chainEvents(head: LedgerHead, entries: readonly AuditEntry[]): Chained {
  let { lastSeq, lastDigest } = head;
  const records = entries.map((entry): AuditRecord => {
    const event = JSON.stringify(cloudEvent(entry, ++lastSeq, lastDigest));
    lastDigest = digestOfEvent(event);
    return { tenant: entry.tenant, seq: lastSeq, eventId: entry.id, runId: entry.runId, callId: entry.callId, event };
  });
  return { records, head: { tenant: head.tenant, lastSeq, lastDigest } };
}

function cloudEvent(entry: AuditEntry, seq: number, previous: string): object {
  return {
    specversion: '1.0',
    id: entry.id,
    source: `/countersign/tenants/${entry.tenant}`,
    type: entry.type,
    subject: entry.callId ?? entry.runId ?? entry.tenant,
    time: entry.time,
    datacontenttype: 'application/json',
    ledger: entry.tenant,
    sequence: String(seq),
    ...(previous === '' ? {} : { previousdigest: previous }),
    data: {
      schema_version: DATA_VERSION,
      tenant: entry.tenant,
      run_id: entry.runId,
      call_id: entry.callId,
      ...entry.data,
    },
  };
}

const HEADERS = { 'content-type': 'application/cloudevents+json; charset=UTF-8' };

/** Public topic: the default hash of the key, so that clients in any language agree. */
export const auditMessage = (record: AuditRecord): OutgoingMessage => ({
  topic: TOPICS.auditEvents,
  key: record.callId ?? record.runId ?? record.tenant,
  value: Buffer.from(record.event),
  headers: HEADERS,
});
