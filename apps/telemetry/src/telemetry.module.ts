import { defineDoor } from '#runtime';
import { openCheckpointKey } from './adapters/signing-key.repository.ts';
import { telemetrySettings } from './telemetry.config.ts';
import { telemetryConsumers } from './telemetry.handlers.ts';
import { telemetryReads } from './telemetry.reads.ts';
import { AuditPublisher } from './work/audit-publisher.ts';
import { Checkpointer } from './work/checkpointer.ts';

/** Milliseconds between looks for records that stayed unpublished. */
const SWEEP_MS = 2_000;

export const telemetryDoor = defineDoor({
  name: 'telemetry',
  settings: telemetrySettings,
  migrations: new URL('./migrations/', import.meta.url),
  async open({ settings, database, bus, clock, log }) {
    const keyFile = settings.COUNTERSIGN_AUDIT_KEY_FILE;
    const signer = await openCheckpointKey(database, keyFile);
    log.info({ kid: signer.kid, from: keyFile === undefined ? 'database' : 'file' }, 'checkpoints are signed');
    const checkpointer = new Checkpointer({
      signer,
      publisher: bus,
      database,
      clock,
      log,
      everyMs: settings.COUNTERSIGN_AUDIT_CHECKPOINT_MS,
      everyRecords: settings.COUNTERSIGN_AUDIT_CHECKPOINT_RECORDS,
    });
    const publisher = new AuditPublisher({
      publisher: bus,
      database,
      log,
      sweepMs: SWEEP_MS,
      onPublished: (records) => checkpointer.noted(records),
    });
    return {
      consumers: telemetryConsumers({
        database,
        publisher,
        clock,
        log,
        pools: settings.COUNTERSIGN_POOLS,
        partitions: settings.COUNTERSIGN_KAFKA_PARTITIONS,
        paceMs: settings.COUNTERSIGN_AUDIT_PACE_MS,
      }),
      reads: telemetryReads(database, checkpointer),
      workers: [publisher, checkpointer],
    };
  },
});
