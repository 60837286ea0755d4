import {
  fillBudgets,
  type AgentRef,
  type OnFailure,
  type ProposeCalls,
  type Stages,
  type StartRun,
  type ToolRef,
  type WrittenBudgets,
} from '#contracts';
import type { Caller } from './caller.ts';
import type { CallRequest, RunRequest } from './requests.schema.ts';

/** An agent of a workspace, with its toolset as it is written there. */
export interface Agent {
  readonly ref: AgentRef;
  readonly toolset: readonly string[];
  readonly budgets: WrittenBudgets;
  readonly onFailure?: OnFailure | undefined;
  /** Tools as they are written in the toolset. */
  readonly stages?: Stages | undefined;
}

export interface Stamp {
  readonly commandId: string;
  readonly requestDigest: string;
}

/** The command for a run that a model or the client drives. */
export function runCommand(
  caller: Caller,
  stamp: Stamp,
  request: RunRequest,
  agent: Agent | null,
  toolset: readonly ToolRef[],
  undoTools: readonly ToolRef[],
  /** Of the agent, in the versions of `toolset`. */
  stages: Stages | undefined,
): StartRun {
  const onFailure = request.onFailure ?? agent?.onFailure;
  return {
    ...stamp,
    driver: request.driver,
    principal: caller.principal,
    ...(agent && request.driver === 'agent' ? { agent: agent.ref, input: request.input } : {}),
    toolset: [...toolset],
    ...(undoTools.length === 0 ? {} : { undoTools: [...undoTools] }),
    ...(stages === undefined ? {} : { stages }),
    ...(onFailure === undefined ? {} : { onFailure }),
    ...(request.taskId === undefined ? {} : { taskId: request.taskId }),
    budgets: fillBudgets(agent?.budgets, request.budgets),
    labels: request.labels ?? {},
    proposals: [],
  };
}

const DEFAULT_BUDGETS = fillBudgets();

/** The command for one direct call: a run that ends with it. */
export function callCommand(
  caller: Caller,
  stamp: Stamp,
  request: CallRequest,
  callId: string,
  toolset: readonly ToolRef[],
  undoTools: readonly ToolRef[],
): StartRun {
  return {
    ...stamp,
    driver: 'call',
    principal: caller.principal,
    toolset: [...toolset],
    ...(undoTools.length === 0 ? {} : { undoTools: [...undoTools] }),
    ...(request.taskId === undefined ? {} : { taskId: request.taskId }),
    budgets: DEFAULT_BUDGETS,
    labels: {},
    proposals: [proposalOf(request, callId)],
  };
}

export function proposalOf(
  request: Pick<CallRequest, 'tool' | 'arguments' | 'providerCallId'> & { readonly dependsOn?: string[] | undefined },
  callId: string,
): ProposeCalls['proposals'][number] {
  return {
    callId,
    tool: request.tool,
    arguments: typeof request.arguments === 'string' ? request.arguments : JSON.stringify(request.arguments),
    ...(request.providerCallId === undefined ? {} : { providerCallId: request.providerCallId }),
    ...(request.dependsOn === undefined ? {} : { dependsOn: request.dependsOn }),
  };
}
