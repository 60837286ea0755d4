import { defineDoor } from '#runtime';
import { telemetrySettings } from './telemetry.config.ts';
import { telemetryConsumers } from './telemetry.handlers.ts';
import { telemetryReads } from './telemetry.reads.ts';
import { AuditPublisher } from './work/audit-publisher.ts';

/** Milliseconds between looks for records that stayed unpublished. */
const SWEEP_MS = 2_000;

export const telemetryDoor = defineDoor({
  name: 'telemetry',
  settings: telemetrySettings,
  migrations: new URL('./migrations/', import.meta.url),
  open({ settings, database, bus, log }) {
    const publisher = new AuditPublisher({ publisher: bus, database, log, sweepMs: SWEEP_MS });
    return {
      consumers: telemetryConsumers({
        database,
        publisher,
        log,
        pools: settings.COUNTERSIGN_POOLS,
        paceMs: settings.COUNTERSIGN_AUDIT_PACE_MS,
      }),
      reads: telemetryReads(database),
      workers: [publisher],
    };
  },
});
