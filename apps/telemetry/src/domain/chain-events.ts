import { partitionOf } from '#kernel';
import { digestOfRecord, hashRecord, type LedgerId, ledgerName, type OutgoingMessage, TOPICS } from '#contracts';
import type { AuditEntry } from './audit-entries.ts';
import { DATA_VERSION } from './audit-row.ts';

/**
 * The ledgers of a tenant: CloudEvents 1.0, one chain for each partition of the audit.
 *
 * C1 an entry's ledger follows from its key alone, by the hash that chooses its partition: a redelivery meets its ledger again;
 * C2 sequences of a ledger are dense from 1; C3 each event names the digest of the one before it in its ledger (none for the
 * first), computed over the bytes that were published; C4 nothing in an event changes when it is sent again.
 */
export interface LedgerState extends LedgerId {
  readonly lastSeq: number;
  /** `sha256:<hex>` of the last event; '' before the first. */
  readonly lastDigest: string;
}

export interface AuditRecord extends LedgerId {
  readonly seq: number;
  readonly eventId: string;
  readonly runId: string | null;
  readonly callId: string | null;
  /** JSON of the CloudEvent, as published. */
  readonly event: string;
}

export type ChainedRecord = AuditRecord & { readonly digest: Buffer };

/** An entry on its way into its ledger. Its text is made before the ledger is locked, up to what only the lock tells. */
export interface PreparedEntry {
  readonly entry: AuditEntry;
  readonly partition: number;
  readonly before: string;
  readonly after: string;
}

export interface Chained {
  readonly records: readonly ChainedRecord[];
  readonly state: LedgerState;
}

export const digestOfEvent = (event: string): string => `sha256:${digestOfRecord(event)}`;

const keyOf = ({ callId, runId, tenant }: Pick<AuditEntry, 'callId' | 'runId' | 'tenant'>): string =>
  callId ?? runId ?? tenant;

export function prepareEntry(entry: AuditEntry, partitions: number): PreparedEntry {
  const { id, tenant, type, runId, callId, time } = entry;
  const partition = partitionOf(keyOf(entry), partitions);
  const before = JSON.stringify({
    specversion: '1.0',
    id,
    source: `/countersign/tenants/${tenant}`,
    type,
    subject: keyOf(entry),
    time,
    datacontenttype: 'application/json',
    ledger: ledgerName({ tenant, partition }),
  }).slice(0, -1);
  const data = { schema_version: DATA_VERSION, tenant, run_id: runId, call_id: callId, ...entry.data };
  return { entry, partition, before, after: `,"data":${JSON.stringify(data)}}` };
}

/** Appends to one ledger. */
export function chainEvents({ tenant, partition, ...state }: LedgerState, entries: readonly PreparedEntry[]): Chained {
  let { lastSeq, lastDigest } = state;
  const records = entries.map(({ entry, before, after }): ChainedRecord => {
    const previous = lastDigest === '' ? '' : `,"previousdigest":"${lastDigest}"`;
    const event = `${before},"sequence":"${++lastSeq}"${previous}${after}`;
    const digest = hashRecord(event);
    lastDigest = `sha256:${digest.toString('hex')}`;
    const { id: eventId, runId, callId } = entry;
    return { tenant, partition, seq: lastSeq, eventId, runId, callId, event, digest };
  });
  return { records, state: { tenant, partition, lastSeq, lastDigest } };
}

const HEADERS = { 'content-type': 'application/cloudevents+json; charset=UTF-8' };

/** Public topic: the default hash of the key, so that clients in any language agree. */
export const auditMessage = (record: AuditRecord): OutgoingMessage => ({
  topic: TOPICS.auditEvents,
  key: keyOf(record),
  value: Buffer.from(record.event),
  headers: HEADERS,
});
