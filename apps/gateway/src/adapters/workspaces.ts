import type { AgentRef, Budgets, OnFailure, Stages, ToolContract } from '#contracts';
import { agentSchema, budgetsSchema, toolKey } from '#contracts';
import { CountersignError } from '#kernel';
import type { ContractStore } from '#registry';
import type { Agent } from '../domain/start-run.ts';

/** What the gateway needs of a workspace. */
export interface WorkspaceSource {
  readonly name: string;
  readonly tools: readonly { readonly contract: ToolContract }[];
  readonly agents: readonly {
    readonly name: string;
    readonly model: string;
    readonly instructions: string;
    readonly toolset: readonly string[];
    readonly budgets?: WrittenBudgets | undefined;
    readonly onFailure?: OnFailure | undefined;
    readonly stages?: Stages | undefined;
  }[];
}

type WrittenBudgets = { readonly [K in keyof Budgets]?: Budgets[K] | undefined };

/** Agents by tenant and name. */
export class AgentDirectory {
  readonly #agents = new Map<string, Map<string, Agent>>();

  add(tenant: string, agent: Agent): void {
    const own = this.#agents.get(tenant) ?? new Map<string, Agent>();
    if (own.has(agent.ref.name)) {
      const text = `Two workspaces define the agent ${JSON.stringify(agent.ref.name)}: rename one`;
      throw new CountersignError('INVALID_ARGS', text);
    }
    this.#agents.set(tenant, own.set(agent.ref.name, agent));
  }

  find(tenant: string, name: string): Agent | undefined {
    return this.#agents.get(tenant)?.get(name);
  }

  names(tenant: string): string[] {
    return [...(this.#agents.get(tenant)?.keys() ?? [])].sort();
  }
}

/**
 * Publishes the tools of the workspaces for one tenant and gathers their agents.
 * @throws CountersignError INVALID_ARGS (not publishable, unknown tool in a toolset), IDEMPOTENCY_CONFLICT (a published version was changed)
 */
export async function publishWorkspaces(
  workspaces: readonly WorkspaceSource[],
  tenant: string,
  store: ContractStore,
): Promise<AgentDirectory> {
  const contracts = workspaces.flatMap((workspace) => workspace.tools.map((tool) => tool.contract));
  await store.publishAll(tenant, contracts);
  const directory = new AgentDirectory();
  const faults: string[] = [];
  for (const { name, agents } of workspaces) {
    for (const agent of agents) {
      for (const tool of agent.toolset) {
        if (await store.resolve(tenant, tool)) continue;
        const known = contracts.map(toolKey).join(', ') || 'none';
        faults.push(
          `workspace ${name}, agent ${agent.name}: no tool ${JSON.stringify(tool)} is published (known: ${known})`,
        );
      }
      directory.add(tenant, {
        ref: refOf(agent),
        toolset: agent.toolset,
        budgets: budgetsOf(agent.budgets),
        onFailure: agent.onFailure,
        stages: agent.stages,
      });
    }
  }
  if (faults.length > 0) throw new CountersignError('INVALID_ARGS', faults.join('\n'));
  return directory;
}

const refOf = ({ name, model, instructions }: WorkspaceSource['agents'][number]): AgentRef =>
  agentSchema.parse({ name, model, instructions });

/** Only what is written: the rest is filled in when a run starts. */
function budgetsOf(budgets: WrittenBudgets | undefined): Partial<Budgets> {
  const written = Object.fromEntries(Object.entries(budgets ?? {}).filter(([, value]) => value !== undefined));
  budgetsSchema.parse(written);
  return written;
}
