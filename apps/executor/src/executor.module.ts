import { KeyRing, verifyGrant, type PublicKeySet } from '#grants';
import { ContractCache, Quarantine } from '#registry';
import { defineDoor } from '#runtime';
import { createRunner, loadWorkspace, makeViews, secretValues, type Handler } from '#tools';
import { executorSettings, toolEnvironment } from './executor.config.ts';
import { wireExecutor } from './executor.wiring.ts';
import { refuseQuarantined } from './work/refuse-quarantined.ts';

/** The tool's pool: verifies grants, journals intents, runs tools, records outcomes. */
export const executorDoor = defineDoor({
  name: 'executor',
  settings: executorSettings,
  migrations: new URL('./migrations/', import.meta.url),
  async open(context) {
    const { reads, settings } = context;
    const workspaces = await Promise.all(settings.COUNTERSIGN_WORKSPACES.map((folder) => loadWorkspace(folder)));
    const tools = workspaces.flatMap((workspace) => workspace.tools);
    const handlers = new Map<string, Handler>(
      tools.flatMap((tool) => (tool.handler ? [[tool.digest, tool.handler]] : [])),
    );
    const probes = new Map(tools.flatMap((tool) => (tool.probe ? [[tool.digest, tool.probe] as const] : [])));
    const contracts = tools.map((tool) => tool.contract);
    const env = toolEnvironment(contracts, settings, context.environment);
    const secrets = secretValues(env);
    const runner = createRunner({ handlers, probes, env, secrets });
    const ring = new KeyRing({ fetch: () => reads.read<PublicKeySet>('policy', 'publicKeys', {}) });
    const quarantine = new Quarantine(reads);
    const parts = wireExecutor(context, {
      verify: async (token) => (await verifyGrant(token, ring)).claims,
      contracts: new ContractCache(reads),
      quarantine,
      runner: refuseQuarantined(runner, quarantine),
      views: (contract, value, raw, about) => makeViews(contract, value, raw, { ...about, secrets }),
    });
    const close = { start: () => undefined, drain: () => Promise.resolve(runner.close()) };
    return { ...parts, workers: [...(parts.workers ?? []), close, quarantine] };
  },
});
