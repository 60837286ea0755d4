import { defineDoor } from '#runtime';
import { stateStoreConsumers } from './state-store.handlers.ts';
import { stateStoreReads } from './state-store.reads.ts';
import { stateStoreSettings } from './state-store.config.ts';

export const stateStoreDoor = defineDoor({
  name: 'state-store',
  settings: stateStoreSettings,
  migrations: new URL('./migrations/', import.meta.url),
  open: ({ settings, database }) => ({
    consumers: stateStoreConsumers(database, {
      pools: settings.COUNTERSIGN_POOLS,
      paceMs: settings.COUNTERSIGN_VIEW_PACE_MS,
    }),
    reads: stateStoreReads(database),
  }),
});
