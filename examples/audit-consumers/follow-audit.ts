import { LedgerFollower, type AuditFault, type FollowedRecord, type LedgerPosition } from 'countersign/audit';
import { Kafka, logLevel } from 'kafkajs';

export interface Taken {
  /** In the order of their ledgers. */
  readonly records: readonly FollowedRecord[];
  readonly faults: readonly AuditFault[];
}

export interface FollowOptions {
  readonly brokers: readonly string[];
  /** Consumer group; one process of it at a time. */
  readonly group: string;
  /** Only this tenant's ledgers; default: all. */
  readonly tenant?: string | undefined;
  /** Where an earlier process of the group ended, as its sink knows it. */
  readonly positions: readonly LedgerPosition[];
  /** Resolves when the sink holds them durably, together with their positions. `alive` keeps the membership while it takes long. */
  take(taken: Taken, alive: () => Promise<void>): Promise<void>;
}

/**
 * Reads the topic `audit.events` and verifies each ledger as it goes.
 *
 * A1 an offset is committed after the sink took what lies before it: a process that dies in between reads it again;
 * A2 what comes again is dropped by its place in the ledger, so a sink that keeps positions takes each record once;
 * A3 what fails ends the process: it begins again from what the sink kept, never from what it remembers.
 *
 * @returns what ends it
 */
export async function followAudit(options: FollowOptions): Promise<() => Promise<void>> {
  const { brokers, group, tenant, positions, take } = options;
  const follower = new LedgerFollower(positions);
  const kafka = new Kafka({ brokers: [...brokers], clientId: group, logLevel: logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: group, retry: { restartOnFailure: () => Promise.resolve(false) } });
  consumer.on('consumer.crash', ({ payload }) => {
    console.error(`the consumer failed: ${payload.error.message}`);
    process.exit(1);
  });
  await consumer.connect();
  await consumer.subscribe({ topic: 'audit.events', fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachBatch: async ({ batch: { topic, partition, messages }, heartbeat, isStale }) => {
      if (isStale()) return;
      const texts = messages.map(({ value }) => value?.toString('utf8') ?? '').filter((text) => isOf(text, tenant));
      const followed = texts.map((text) => follower.add(text));
      const records = followed.flatMap((one) => one.records);
      const faults = followed.flatMap((one) => one.faults);
      if (records.length + faults.length > 0) await take({ records, faults }, heartbeat);
      // A record that waits for an earlier one is nowhere but in this process.
      if (follower.waits) return;
      const offset = String(BigInt(messages.at(-1)!.offset) + 1n);
      await consumer.commitOffsets([{ topic, partition, offset }]);
    },
  });
  return () => consumer.disconnect();
}

function isOf(text: string, tenant: string | undefined): boolean {
  if (tenant === undefined) return true;
  try {
    return String((JSON.parse(text) as { ledger?: unknown }).ledger).startsWith(`${tenant}/`);
  } catch {
    return true; // what is no record at all is nobody's, and is told
  }
}
