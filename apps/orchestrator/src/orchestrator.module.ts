import { ContractCache, Quarantine } from '#registry';
import { defineDoor, WatchedFile } from '#runtime';
import { Shelf } from './adapters/contract.shelf.ts';
import { findRun } from './adapters/find-run.query.ts';
import { readBudgetFile } from './adapters/read-budget-file.ts';
import { TenantSlices } from './adapters/tenant-slices.ts';
import { tenantUsage } from './adapters/tenant-usage.query.ts';
import { runView } from './domain/run-view.ts';
import { budgetOfTenant, metersOf } from './domain/tenant-budget.ts';
import { usageView, type UsageView } from './domain/usage-view.ts';
import { orchestratorSettings } from './orchestrator.config.ts';
import { orchestratorConsumers } from './orchestrator.handlers.ts';
import { runTimers } from './run-timers.worker.ts';
import { RunReducer } from './run.reducer.ts';

export const orchestratorDoor = defineDoor({
  name: 'orchestrator',
  settings: orchestratorSettings,
  migrations: new URL('./migrations/', import.meta.url),
  async open({ settings, database, outbox, reads, clock, log, instance }) {
    const shelf = new Shelf(new ContractCache(reads));
    const setting = settings.COUNTERSIGN_TENANT_BUDGETS;
    const file =
      'file' in setting
        ? await WatchedFile.open({
            file: setting.file,
            what: 'the limits of tenants',
            read: readBudgetFile,
            count: (budgets) => Object.keys(budgets).length,
            log,
          })
        : null;
    const source = file ?? { current: 'budgets' in setting ? setting.budgets : {} };
    const slices = new TenantSlices(database, source, instance);
    const suspensions = new Quarantine(reads);
    const reducer = new RunReducer({ database, outbox, shelf, slices, suspensions, clock, log });
    return {
      consumers: orchestratorConsumers(reducer, settings.COUNTERSIGN_POOLS),
      workers: [
        runTimers(reducer, log, settings.COUNTERSIGN_ORCHESTRATOR_SWEEP_MS),
        slices,
        suspensions,
        ...(file ? [file] : []),
      ],
      reads: {
        run: async ({ tenant, runId }: { tenant: string; runId: string }) => {
          const run = await findRun(database, tenant, runId);
          return run && runView(run);
        },
        usage: async ({ tenant }: { tenant: string }): Promise<UsageView> => {
          const budget = budgetOfTenant(source.current, tenant);
          const now = clock.now();
          const periods = [...new Set(metersOf(budget, now).map((meter) => meter.period))];
          const used = periods.length === 0 ? [] : await tenantUsage(database, tenant, periods);
          return usageView(budget, new Map(used.map((one) => [`${one.period}/${one.kind}`, one.used])), now);
        },
      },
    };
  },
});
