import {
  isRead,
  type CallError,
  type CallProposed,
  type LimitName,
  type Principal,
  type Proposal,
  type TenantLimit,
  type ToolRef,
} from '#contracts';
import { CountersignError, digestArguments, parseJson, pointerStep, type ErrorCode, type ErrorDetail } from '#kernel';
import { callError } from './call-error.ts';
import { factPlan, type FactPlan } from './fact-plan.ts';
import { nameOperation, nameResources } from './name-effects.ts';
import { nearTools, resolveTool } from './resolve-tool.ts';
import { printable } from './printable.ts';
import type { RunDefinition } from './run-state.ts';
import type { ContractShelf, ReadableContract } from './saga.types.ts';
import { undoPlan, type UndoPlan } from './way-back.ts';

const ARGUMENT_LIMITS = { maxBytes: 262_144, maxDepth: 32 };

export interface Admitted {
  readonly ok: true;
  readonly bound: Omit<CallProposed, 'runDeadline'>;
  readonly undo: UndoPlan | undefined;
  readonly facts: FactPlan | undefined;
  readonly timeoutMs: number;
  readonly approvalTtlMs: number;
}
export interface Rejected {
  readonly ok: false;
  readonly tool: string;
  readonly contractDigest: string | null;
  readonly effectClass: 'read' | 'call' | null;
  readonly error: CallError;
  /** The limit of the run that left no room for it. */
  readonly limit?: LimitName;
  readonly tenantLimit?: TenantLimit;
}
export type Admission = Admitted | Rejected;

export interface AdmissionContext {
  readonly definition: RunDefinition;
  /** What its proposer may call now: of the run's toolset. */
  readonly offered: readonly ToolRef[];
  readonly principal: Principal;
  readonly callId: string;
  readonly sources: readonly string[];
  readonly contracts: ContractShelf;
  /** Where the values of the arguments come from. */
  readonly origin: 'user' | 'tool:*';
}

/** Parse → object → contract's schema → evidence → resources → operation key; the first fault ends it, with paths. */
export function admitProposal(proposal: Proposal, context: AdmissionContext): Admission {
  const { definition, callId } = context;
  const ref = resolveTool(proposal.tool, context.offered);
  if (!ref) return unknownTool(proposal.tool, context);
  const readable = context.contracts.get(ref.digest);
  if (readable === undefined || readable === 'unreadable') {
    const error = callError('INTERNAL', `The contract of ${ref.tool} cannot be read`);
    return { ok: false, tool: ref.tool, contractDigest: ref.digest, effectClass: null, error };
  }
  const { contract } = readable;
  const effectClass = isRead(contract) ? 'read' : 'call';
  const reject = (code: ErrorCode, message: string, details: readonly ErrorDetail[]): Rejected => ({
    ok: false,
    tool: ref.tool,
    contractDigest: ref.digest,
    effectClass,
    error: callError(code, message, details),
  });

  const parsed = parseArguments(proposal.arguments);
  if (!parsed.ok) return reject(parsed.code, parsed.message, parsed.details);
  const checked = readable.validate(parsed.value);
  if (!checked.ok)
    return reject('INVALID_ARGS', `The arguments do not fit the contract of ${ref.tool}`, checked.details);
  const args = checked.arguments;
  const evidence = evidenceFaults(contract.evidenceArgument, args, context.sources);
  if (evidence.length > 0) return reject('INVALID_ARGS', 'The evidence is not from what this run has read', evidence);
  const resources = nameResources(contract, args);
  if (!resources.ok) return reject(resources.code, resources.message, resources.details);
  const scope = { tenant: definition.tenant, principalId: context.principal.id, callId, taskId: definition.taskId };
  const key = nameOperation(contract, args, scope);
  if (!key.ok) return reject(key.code, key.message, key.details);

  return {
    ok: true,
    bound: bind(proposal, context, ref, readable, args, resources.value, key.value),
    undo: undoPlan(contract, definition.undoTools ?? []),
    facts: factPlan(contract, definition.undoTools ?? []),
    timeoutMs: contract.timeoutMs,
    approvalTtlMs: contract.approval.mode === 'never' ? 0 : contract.approval.ttlMs,
  };
}

function bind(
  proposal: Proposal,
  context: AdmissionContext,
  ref: ToolRef,
  { contract }: ReadableContract,
  args: Record<string, unknown>,
  resources: string[],
  operationKey: string,
): Admitted['bound'] {
  return {
    ...(proposal.providerCallId === undefined ? {} : { providerCallId: proposal.providerCallId }),
    driver: context.definition.driver,
    principal: context.principal,
    tool: ref.tool,
    contractDigest: ref.digest,
    pool: contract.execution.pool,
    effectClass: isRead(contract) ? 'read' : 'call',
    arguments: args,
    argumentsDigest: digestArguments(ref.tool, ref.digest, args),
    resources,
    operationKey,
    origins: originsOf(args, context.origin),
  };
}

function unknownTool(asked: string, { definition, offered }: AdmissionContext): Rejected {
  const near = nearTools(asked, offered, definition.driver === 'agent');
  const shown = JSON.stringify(asked.slice(0, 80));
  const later = resolveTool(asked, definition.toolset);
  if (later) {
    const now = near.length > 0 ? `; offered now: ${near.join(', ')}` : '';
    const error = callError('TOOL_NOT_ALLOWED', `The tool ${shown} is not offered in this stage of the run${now}`, [
      { path: '/tool', rule: 'stage', allowed: near },
    ]);
    return { ok: false, tool: later.tool, contractDigest: later.digest, effectClass: null, error };
  }
  const hint = near.length > 0 ? `; did you mean ${near.join(', ')}?` : '';
  const error = callError('UNKNOWN_TOOL', `No tool ${shown} is offered in this run${hint}`, [
    { path: '/tool', rule: 'toolset', allowed: near },
  ]);
  return { ok: false, tool: printable(asked), contractDigest: null, effectClass: null, error };
}

type Parsed =
  | { ok: true; value: unknown }
  | { ok: false; code: 'INVALID_JSON' | 'INVALID_ARGS'; message: string; details: readonly ErrorDetail[] };

/** Empty or blank text is how some providers say "no arguments": {}, then judged by the tool's own schema. */
function parseArguments(text: string): Parsed {
  if (text.trim() === '') return { ok: true, value: {} };
  try {
    return { ok: true, value: parseJson(text, ARGUMENT_LIMITS) };
  } catch (error) {
    if (!(error instanceof CountersignError)) throw error;
    const { message, details } = error;
    const uncarried = details.some((detail) => UNCARRIED_RULES.has(detail.rule));
    return uncarried
      ? { ok: false, code: 'INVALID_ARGS', message: UNCARRIED, details }
      : { ok: false, code: 'INVALID_JSON', message, details };
  }
}

/** JSON, but with content that no store, object or other provider would carry unchanged. */
const UNCARRIED = 'The arguments hold something that cannot be carried';
const UNCARRIED_RULES: ReadonlySet<string> = new Set(['nul', 'surrogate', 'forbiddenKey']);

function evidenceFaults(
  name: string | undefined,
  args: Readonly<Record<string, unknown>>,
  sources: readonly string[],
): ErrorDetail[] {
  if (name === undefined || args[name] === undefined) return [];
  const known = new Set<unknown>(sources);
  const value = args[name];
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  return items.flatMap((item, index) =>
    known.has(item)
      ? []
      : [
          {
            path: Array.isArray(value) ? `/${name}/${index}` : `/${name}`,
            rule: 'evidence',
            message: 'is not the id of a source that a read of this run returned',
          },
        ],
  );
}

/** The coarse answer: in a model-driven run anything may stem from a tool's result. One entry for each argument. */
function originsOf(args: Readonly<Record<string, unknown>>, origin: string): Record<string, string> {
  return Object.fromEntries(Object.keys(args).map((name) => [pointerStep(name), origin]));
}
