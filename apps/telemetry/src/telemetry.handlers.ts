import type { ConsumerSpec } from '#bus';
import { returnedTopic, settledTopic, TOPICS } from '#contracts';
import type { Database } from '#persistence';
import type { Log } from '#runtime';
import { recordEvents } from './adapters/audit.repository.ts';
import type { AuditPublisher } from './work/audit-publisher.ts';
import { auditEntries } from './domain/audit-entries.ts';
import { AUDITED_TYPES } from './domain/audit-rows.ts';

export interface TelemetryOptions {
  readonly database: Database;
  readonly publisher: AuditPublisher;
  readonly log: Log;
  readonly pools: readonly string[];
  readonly paceMs: number;
}

/** Facts in, audit records out: each fact once, in one dense chain a tenant, published after the commit. */
export function telemetryConsumers({ database, publisher, log, pools, paceMs }: TelemetryOptions): ConsumerSpec[] {
  const recorder: ConsumerSpec<(typeof AUDITED_TYPES)[number]> = {
    group: 'telemetry',
    topics: [
      TOPICS.callRejected,
      TOPICS.callDecided,
      TOPICS.runEvents,
      ...pools.flatMap((pool) => [settledTopic(pool), returnedTopic(pool)]),
    ],
    from: 'earliest',
    offPath: { paceMs },
    accepts: AUDITED_TYPES,
    maxBatch: 512,
    async reduce(batch) {
      const { entries, foreign } = auditEntries(
        batch.map(({ message, delivery }) => ({ message, topic: delivery.topic })),
      );
      for (const { callId, topic } of foreign)
        log.warn({ callId, topic }, 'settlement on a topic of another holder: dropped');
      if (entries.length === 0) return;
      publisher.publish(await database.transaction((tx) => recordEvents(tx, entries)));
    },
  };
  return [recorder as unknown as ConsumerSpec];
}
