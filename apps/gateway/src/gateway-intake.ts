import { message, type Message, type StartRun } from '#contracts';
import { callIdOf, newId, runIdFromKey, runPart, type Clock } from '#kernel';
import type { AcceptedRuns } from './adapters/accepted-runs.ts';
import { checkScope } from './adapters/check-scope.ts';
import type { CommandExchange } from './adapters/command-exchange.ts';
import { endedView } from './adapters/ended-view.ts';
import { resolveStages } from './adapters/resolve-stages.ts';
import { resolveToolset, resolveUndoTools } from './adapters/resolve-toolset.ts';
import type { RunViews } from './adapters/run-views.ts';
import { startAndWait, type StartedRun } from './adapters/start-and-wait.ts';
import type { ToolCatalogue } from './adapters/tool-catalogue.ts';
import { finallySettled } from './adapters/watched-answers.ts';
import { keys } from './adapters/watchers.ts';
import type { AgentDirectory } from './adapters/workspaces.ts';
import { clipTo, refuseAbove, type BudgetCeiling } from './domain/budget-ceiling.ts';
import type { Caller } from './domain/caller.ts';
import { unknownAgent } from './domain/problem.ts';
import type { CallRequest, RunRequest } from './domain/requests.schema.ts';
import type { Settlement } from './domain/result-view.ts';
import { callCommand, runCommand, type Agent, type Stamp } from './domain/start-run.ts';
import { mayUse } from './domain/tool-scope.ts';
import type { View } from './domain/views.ts';

/** Tools whose names may help the caller of an unknown one. */
const HINTED_TOOLS = 64;

export interface IntakeOptions {
  /** `Idempotency-Key`: names the run. */
  readonly key?: string | undefined;
  /** Milliseconds; 0 = answer as soon as the command is durable. */
  readonly waitMs: number;
  /** digestJson('request/v1', body) */
  readonly requestDigest: string;
  /** W3C traceparent. */
  readonly correlationId?: string | undefined;
  readonly isGone?: (() => boolean) | undefined;
}

export interface RunAnswer {
  readonly runId: string;
  /** null: accepted, not ended within the wait. */
  readonly view: View | null;
}
export interface CallAnswer {
  readonly runId: string;
  readonly callId: string;
  /** null: accepted, not settled within the wait. */
  readonly settled: Settlement | null;
}

export interface IntakeParts {
  readonly exchange: CommandExchange;
  readonly tools: ToolCatalogue;
  readonly agents: AgentDirectory;
  readonly views: RunViews;
  readonly accepted: AcceptedRuns;
  readonly clock: Clock;
  readonly ceiling: BudgetCeiling;
}

/**
 * Turns requests into commands and waits for what becomes of them.
 * I1 the same caller, route and key name the same run; other content under it is an IDEMPOTENCY_CONFLICT, also between replicas;
 * I2 nothing is acknowledged before its command is durable; I3 an answer under a key is given only for the same content.
 */
export class GatewayIntake {
  readonly #parts: IntakeParts;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  /** @throws HttpProblem, CountersignError, InfrastructureError */
  async startRun(caller: Caller, request: RunRequest, options: IntakeOptions): Promise<RunAnswer> {
    const { tools, agents, accepted, views } = this.#parts;
    const { tenant } = caller;
    refuseAbove(this.#parts.ceiling, request.budgets);
    let agent: Agent | null = null;
    if (request.driver === 'agent') {
      agent = agents.find(tenant, request.agent) ?? null;
      if (!agent) throw unknownAgent(request.agent, agents.names(tenant));
    }
    const names = agent?.toolset ?? (request.driver === 'client' ? request.toolset : undefined);
    await checkScope(tools, caller, names ?? [], (index) => (agent ? '/agent' : `/toolset/${index}`));
    const resolved = await resolveToolset(tools, tenant, names);
    const toolset = names ? resolved : resolved.filter((ref) => mayUse(caller, ref.tool));
    const undoTools = await resolveUndoTools(tools, tenant, toolset);
    const stages = await resolveStages(tools, tenant, agent?.stages);
    const start = this.#start(caller, 'POST /v1/runs', options, (stamp) =>
      runCommand(caller, stamp, request, agent, toolset, undoTools, stages),
    );
    const { runId } = start;
    const ended = keys.ended(tenant, runId);
    const view = await startAndWait<Message<'RunEnded'> | View>(this.#parts, start, options, [ended], {
      look: (watch) => watch.get(ended, 'RunEnded'),
      ask: () => views.endedRun(tenant, runId),
    });
    if (view === null) {
      accepted.add({
        runId,
        tenant,
        principalId: caller.principal.id,
        driver: request.driver,
        agent: agent?.ref.name ?? null,
        taskId: request.taskId ?? null,
        labels: request.labels ?? {},
        calls: [],
      });
    }
    return { runId, view: view && (await endedView(views, tenant, runId, view)) };
  }

  /** One governed call. @throws HttpProblem, CountersignError, InfrastructureError */
  async call(caller: Caller, request: CallRequest, options: IntakeOptions): Promise<CallAnswer> {
    const { tools, accepted, views } = this.#parts;
    const { tenant } = caller;
    await checkScope(tools, caller, [request.tool], () => '/tool');
    const ref = await tools.resolve(tenant, request.tool);
    // An unknown tool is a call too: the orchestrator settles it as UNKNOWN_TOOL, and names what may have been meant.
    const toolset = ref ? [ref] : await tools.refs(tenant, HINTED_TOOLS);
    const undoTools = ref ? await resolveUndoTools(tools, tenant, toolset) : [];
    const start = this.#start(caller, 'POST /v1/calls', options, (stamp, runId) =>
      callCommand(caller, stamp, request, callIdOf(runId, 1), toolset, undoTools),
    );
    const { runId } = start;
    const callId = callIdOf(runId, 1);
    const settled = keys.settled(tenant, callId);
    const answer = await startAndWait<Settlement>(this.#parts, start, options, [settled], {
      look: (watch) => finallySettled(watch, tenant, callId),
      ask: () => views.finalSettlement(tenant, callId),
    });
    if (answer === null) {
      accepted.add({
        runId,
        tenant,
        principalId: caller.principal.id,
        driver: 'call',
        agent: null,
        taskId: request.taskId ?? null,
        labels: {},
        calls: [{ callId, tool: ref?.tool ?? request.tool, providerCallId: request.providerCallId ?? null }],
      });
    }
    return { runId, callId, settled: answer };
  }

  #start(
    caller: Caller,
    route: string,
    options: IntakeOptions,
    make: (stamp: Stamp, runId: string) => StartRun,
  ): StartedRun {
    const { tenant, principal } = caller;
    const runId = options.key === undefined ? newId('run') : runIdFromKey(tenant, principal.id, route, options.key);
    // A run without a key is started by one command, which can carry the run's own chance.
    const commandId = options.key === undefined ? `cmd_${runPart(runId)}` : newId('cmd');
    const { correlationId, requestDigest } = options;
    const context = { tenant, runId, correlationId, now: this.#parts.clock.now(), id: commandId };
    const start = make({ commandId, requestDigest }, runId);
    const budgets = clipTo(this.#parts.ceiling, start.budgets);
    const command = message('StartRun', context, { ...start, budgets });
    return { tenant, runId, commandId, command };
  }
}
