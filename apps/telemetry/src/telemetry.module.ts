import { defineDoor } from '#runtime';
import { telemetrySettings } from './telemetry.config.ts';
import { telemetryConsumers } from './telemetry.handlers.ts';
import { telemetryReads } from './telemetry.reads.ts';

export const telemetryDoor = defineDoor({
  name: 'telemetry',
  settings: telemetrySettings,
  migrations: new URL('./migrations/', import.meta.url),
  open: ({ settings, database, outbox, log }) => ({
    consumers: telemetryConsumers({
      database,
      outbox,
      log,
      pools: settings.COUNTERSIGN_POOLS,
      lingerMs: settings.COUNTERSIGN_AUDIT_LINGER_MS,
    }),
    reads: telemetryReads(database),
  }),
});
