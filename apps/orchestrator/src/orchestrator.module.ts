import { ContractCache } from '#registry';
import { defineDoor } from '#runtime';
import { Shelf } from './adapters/contract.shelf.ts';
import { findRun } from './adapters/find-run.query.ts';
import { runView } from './domain/run-view.ts';
import { orchestratorSettings } from './orchestrator.config.ts';
import { orchestratorConsumers } from './orchestrator.handlers.ts';
import { RunTimers } from './run-timers.worker.ts';
import { RunReducer } from './run.reducer.ts';

export const orchestratorDoor = defineDoor({
  name: 'orchestrator',
  settings: orchestratorSettings,
  migrations: new URL('./migrations/', import.meta.url),
  open({ settings, database, outbox, reads, clock, log }) {
    const shelf = new Shelf(new ContractCache(reads));
    const reducer = new RunReducer({ database, outbox, shelf, clock, log });
    return {
      consumers: orchestratorConsumers(reducer, settings.COUNTERSIGN_POOLS),
      workers: [new RunTimers(reducer, log, settings.COUNTERSIGN_ORCHESTRATOR_SWEEP_MS)],
      reads: {
        run: async ({ tenant, runId }: { tenant: string; runId: string }) => {
          const run = await findRun(database, tenant, runId);
          return run && runView(run);
        },
      },
    };
  },
});
