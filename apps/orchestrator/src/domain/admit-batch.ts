import type { CallError, LimitName, Principal, Proposal, TenantLimit } from '#contracts';
import { admitProposal, type Admission, type Admitted } from './admit-proposal.ts';
import { callError, errorForModel } from './call-error.ts';
import { callRejected } from './emissions.ts';
import { resolveTool } from './resolve-tool.ts';
import { printable } from './printable.ts';
import { callsUsed, shortDigest } from './limits.ts';
import { isOfModel } from './run-control.ts';
import { baseOf, type CallBase, type Call, type HeldCall, type SettledCall } from './call-state.ts';
import { budgetsOf, withState, type Batch, type Run } from './run-state.ts';
import { offeredTo } from './stages.ts';
import { charge, tenantText } from './tenant-use.ts';
import { ContractsMissing, type Emission, type Env, type Input } from './saga.types.ts';

export type NamedProposal = Proposal & {
  readonly callId: string;
  /** callIds */
  readonly dependsOn?: readonly string[] | undefined;
};

export interface ProposedBatch {
  readonly principal: Principal;
  readonly proposals: readonly NamedProposal[];
  readonly batch: Batch;
}

/** Turns proposals into calls: held until it is their turn, or rejected with the reason. */
export function admitBatch(
  run: Run,
  input: Input,
  proposed: ProposedBatch,
  env: Env,
): { run: Run; out: readonly Emission[] } {
  fetchFirst(run, proposed.proposals, env);
  const { calls, sources, batches: before } = run.state;
  const batches = [...before, proposed.batch];
  const opened = withState(run, { batches });
  const batch = before.length;
  const { maxCalls, approvalTtlMs: runTtlMs } = budgetsOf(run);
  const room = maxCalls - callsUsed(calls);
  const added: Call[] = [];
  const out: Emission[] = [];
  let paying = opened;
  const byModel = isOfModel(opened, { batch });
  const offered = offeredTo(opened, byModel);
  for (const [index, proposal] of proposed.proposals.entries()) {
    const context = {
      origin: byModel ? ('tool:*' as const) : ('user' as const),
      offered,
      definition: run.definition,
      principal: proposed.principal,
      callId: proposal.callId,
      sources,
      contracts: env.contracts,
    };
    let admission = callsUsed(added) < room ? admitProposal(proposal, context) : beyondBudget(proposal, maxCalls);
    if (admission.ok) {
      const paid = charge(paying, { calls: 1 }, env, proposed.proposals.length - index);
      if ('run' in paid) paying = paid.run;
      else admission = beyondTenant(admission, paid.stop);
    }
    const { callId, providerCallId, dependsOn } = proposal;
    const base = { callId, providerCallId, batch, ...(dependsOn ? { dependsOn } : {}) };
    if (admission.ok) {
      added.push(heldCall(base, admission, runTtlMs));
    } else {
      const { tool, contractDigest, effectClass, error, limit, tenantLimit } = admission;
      added.push(rejectedCall(opened, { ...base, tool, effectClass }, { error, limit, tenantLimit }));
      out.push(
        callRejected(
          run,
          input,
          { ...base, tool, contractDigest, argumentsDigest: null, principal: proposed.principal, error },
          env.now,
        ),
      );
    }
  }
  return { run: withState(paying, { calls: [...calls, ...added] }), out };
}

/** @param runTtlMs the time that the run leaves a person */
export function heldCall(
  base: Pick<Call, 'callId' | 'providerCallId' | 'batch' | 'dependsOn'>,
  admission: Admitted,
  runTtlMs: number,
): HeldCall {
  const { bound, timeoutMs, undo, facts } = admission;
  const approvalTtlMs = Math.min(admission.approvalTtlMs, runTtlMs);
  return {
    ...base,
    state: 'held',
    tool: bound.tool,
    effectClass: bound.effectClass,
    bound: approvalTtlMs < admission.approvalTtlMs ? { ...bound, approvalTtlMs } : bound,
    timeoutMs,
    approvalTtlMs,
    ...(undo === undefined ? {} : { undo }),
    ...(facts === undefined ? {} : { facts }),
  };
}

function fetchFirst(run: Run, proposals: readonly Proposal[], env: Env): void {
  const wanted = proposals.map((proposal) => resolveTool(proposal.tool, run.definition.toolset)?.digest);
  const missing = new Set(wanted.filter((digest) => digest !== undefined && !env.contracts.has(digest)) as string[]);
  if (missing.size > 0) throw new ContractsMissing([...missing]);
}

function beyondBudget(proposal: Proposal, maxCalls: number): Admission {
  const error = callError('BUDGET_EXHAUSTED', `The run may make ${maxCalls} calls (maxCalls)`);
  return {
    ok: false,
    tool: printable(proposal.tool),
    contractDigest: null,
    effectClass: null,
    error,
    limit: 'maxCalls',
  };
}

function beyondTenant({ bound }: Admitted, tenantLimit: TenantLimit): Admission {
  const { tool, contractDigest, effectClass } = bound;
  const error = callError('BUDGET_EXHAUSTED', tenantText(tenantLimit));
  return { ok: false, tool, contractDigest, effectClass: effectClass === 'read' ? 'read' : 'call', error, tenantLimit };
}

/** Why a call ends here: the right to settle it has never left. */
export interface Refusal {
  readonly error: CallError;
  readonly limit?: LimitName | undefined;
  readonly tenantLimit?: TenantLimit | undefined;
  /** `rejected` unless it is said. */
  readonly status?: 'rejected' | 'cancelled';
}

export function rejectedCall(
  run: Run,
  base: CallBase,
  { error, limit, tenantLimit, status = 'rejected' }: Refusal,
): SettledCall {
  return {
    ...baseOf(base),
    state: 'settled',
    status,
    effect: 'none',
    errorCode: error.code,
    replayed: false,
    approvalId: null,
    resourceIds: [],
    ...(isOfModel(run, base) ? { output: errorForModel(status, error) } : {}),
    ...(limit === undefined ? {} : { limit }),
    ...(tenantLimit === undefined ? {} : { tenantLimit }),
  };
}

/** Ends a held call: the right to settle it is still here. */
export function dropHeld(
  run: Run,
  input: Input,
  call: HeldCall,
  refusal: Refusal,
  now: number,
): { call: SettledCall; out: Emission } {
  const { callId, providerCallId, tool, bound } = call;
  const { contractDigest, argumentsDigest, principal } = bound;
  const out = callRejected(
    run,
    input,
    {
      callId,
      providerCallId,
      tool,
      contractDigest,
      argumentsDigest,
      principal,
      error: refusal.error,
      status: refusal.status ?? 'rejected',
    },
    now,
  );
  return { call: { ...rejectedCall(run, call, refusal), asked: shortDigest(argumentsDigest) }, out };
}
