import { TOPICS, type OutgoingMessage } from '#contracts';
import { derivedId } from '#kernel';
import type { Checkpoint } from '#audit';

/** A checkpoint for the topic: beside the chains, so it has no ledger and no sequence, and they are the same with or without it. */
export const checkpointMessage = ({ tenant, size, kid, time, jws }: Checkpoint): OutgoingMessage => ({
  topic: TOPICS.auditEvents,
  key: tenant,
  value: Buffer.from(
    JSON.stringify({
      specversion: '1.0',
      id: derivedId('evt', 'audit.checkpoint', tenant, size, jws),
      source: `/countersign/tenants/${tenant}`,
      type: 'dev.countersign.audit.checkpoint.v1',
      subject: tenant,
      time,
      datacontenttype: 'application/json',
      data: { schema_version: 1, tenant, size, kid, jws },
    }),
  ),
  headers: { 'content-type': 'application/cloudevents+json; charset=UTF-8' },
});
