import type { ConsumerSpec } from '#bus';
import { returnedTopic, settledTopic, TOPICS } from '#contracts';
import type { Clock } from '#kernel';
import type { Database } from '#persistence';
import type { Log } from '#runtime';
import { recordEvents } from './adapters/audit.repository.ts';
import { readTenants } from './adapters/read-tenants.query.ts';
import { prepareEntry, type PreparedEntry } from './domain/chain-events.ts';
import type { AuditPublisher } from './work/audit-publisher.ts';
import { auditEntries, type AuditEntry } from './domain/audit-entries.ts';
import { AUDITED_TYPES } from './domain/audit-rows.ts';
import { gapEntries } from './domain/gap.audit.ts';

export interface TelemetryOptions {
  readonly database: Database;
  readonly publisher: AuditPublisher;
  readonly clock: Clock;
  readonly log: Log;
  readonly pools: readonly string[];
  /** Of the audit topic: so many ledgers has a tenant. */
  readonly partitions: number;
  readonly paceMs: number;
}

/** Facts in, audit records out: each fact once, in one of its tenant's dense chains, published after the commit. */
export function telemetryConsumers(options: TelemetryOptions): ConsumerSpec[] {
  const { database, publisher, clock, log, pools, partitions, paceMs } = options;
  const record = async (entries: readonly AuditEntry[]): Promise<void> => {
    let left: readonly PreparedEntry[] = entries.map((entry) => prepareEntry(entry, partitions));
    // Ledgers that are free come first; only for the others this replica waits.
    for (const wait of ['skip', 'wait'] as const) {
      if (left.length === 0) return;
      const recorded = await database.transaction((tx) => recordEvents(tx, left, wait));
      publisher.publish(recorded.records);
      left = recorded.left;
    }
  };
  const recorder: ConsumerSpec<(typeof AUDITED_TYPES)[number]> = {
    group: 'telemetry',
    topics: [
      TOPICS.callRejected,
      TOPICS.callDecided,
      TOPICS.runEvents,
      TOPICS.registryChanges,
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
      await record(entries);
    },
    async onGap(gaps) {
      const tenants = await readTenants(database);
      await record(gapEntries(tenants, gaps, new Date(clock.now()).toISOString()));
    },
  };
  return [recorder as unknown as ConsumerSpec];
}
