import { TOPICS, type OutgoingMessage } from '#contracts';
import { derivedId } from '#kernel';
import type { Checkpoint } from '#audit';

/** A checkpoint for the topic: beside the chain, so it has no sequence, and a ledger is the same with or without it. */
export const checkpointMessage = ({ ledger, size, head, kid, time, jws }: Checkpoint): OutgoingMessage => ({
  topic: TOPICS.auditEvents,
  key: ledger,
  value: Buffer.from(
    JSON.stringify({
      specversion: '1.0',
      id: derivedId('evt', 'audit.checkpoint', ledger, size, head),
      source: `/countersign/tenants/${ledger}`,
      type: 'dev.countersign.audit.checkpoint.v1',
      subject: ledger,
      time,
      datacontenttype: 'application/json',
      ledger,
      data: { schema_version: 1, tenant: ledger, size, head, kid, jws },
    }),
  ),
  headers: { 'content-type': 'application/cloudevents+json; charset=UTF-8' },
});
