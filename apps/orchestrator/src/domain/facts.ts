import type { CallFacts, CallSettled } from '#contracts';
import { callIdOf, valueAt } from '#kernel';
import { heldCall, type Refusal } from './admit-batch.ts';
import { admitProposal } from './admit-proposal.ts';
import { callError } from './call-error.ts';
import { isSettled, type Call, type HeldCall } from './call-state.ts';
import type { FactPlan, FactsRead } from './fact-plan.ts';
import { budgetsOf, type Run } from './run-state.ts';
import { ContractsMissing, type Env } from './saga.types.ts';

/**
 * Facts: what policy must know of a resource before a write is judged.
 *
 * | the write | its fact read        | by                        | then                                             |
 * |-----------|----------------------|---------------------------|--------------------------------------------------|
 * | held      | none                 | the write's turn          | read proposed: a governed call of this run       |
 * | held      | out                  | –                         | the write waits, and holds back what waits for it |
 * | held      | settled, all there   | –                         | write proposed with its facts                    |
 * | held      | settled, one missing | –                         | write rejected PERMISSION_DENIED, nothing is asked |
 *
 * F1 facts come from a settlement of the pool of the read and from nowhere else; never from arguments or from a model.
 * F2 each write reads anew: no fact is older than the turn of its write; an edited call is another write.
 * F3 the facts are bound in the approval and in the grant. They may have changed since: the version goes with the write,
 *    and the source system refuses another one (APPROVAL_MISMATCH). So age alone never makes a fact false unseen.
 * F4 a fact read is the runtime's: the model gets nothing of it, it is no evidence, and counts in no budget of calls; there
 *    is one for each write at most, and reads have none.
 */

/** Facts belong to no turn. */
const FACTS_BATCH = -1;

export type FactStep =
  | { readonly kind: 'ready'; readonly facts: CallFacts | undefined }
  | { readonly kind: 'read'; readonly call: HeldCall }
  | { readonly kind: 'wait' }
  | { readonly kind: 'refuse'; readonly refusal: Refusal };

/** What a write whose turn has come needs next. @throws ContractsMissing when the read's contract must be fetched first */
export function factStep(run: Run, calls: readonly Call[], call: HeldCall, env: Env): FactStep {
  const plan = call.facts;
  if (plan === undefined) return { kind: 'ready', facts: undefined };
  const read = calls.find(({ factsFor }) => factsFor === call.callId);
  if (!read) return begin(run, call, plan, env);
  if (!isSettled(read)) return { kind: 'wait' };
  if (read.facts?.ok) return { kind: 'ready', facts: read.facts.facts };
  const missing = read.facts?.missing ?? [];
  return refuse(
    missing.length === 0
      ? `the read of its facts (${plan.tool}) ended as ${read.status}${read.errorCode === null ? '' : ` ${read.errorCode}`}`
      : `${plan.tool} said nothing usable of ${missing.join(', ')}`,
  );
}

function begin(run: Run, call: HeldCall, plan: FactPlan, env: Env): FactStep {
  if (plan.digest === null) return refuse(`${plan.tool}, which reads its facts, was not published when the run began`);
  if (!env.contracts.has(plan.digest)) throw new ContractsMissing([plan.digest]);
  const callId = callIdOf(run.definition.runId, ['facts', call.callId]);
  const proposal = { tool: plan.tool, arguments: JSON.stringify(argumentsOf(plan, call.bound.arguments)) };
  const toolset = run.definition.undoTools ?? [];
  const admission = admitProposal(proposal, {
    definition: { ...run.definition, toolset },
    offered: toolset,
    principal: call.bound.principal,
    callId,
    sources: [],
    contracts: env.contracts,
    origin: Object.values(call.bound.origins).some((origin) => origin.startsWith('tool:')) ? 'tool:*' : 'user',
  });
  if (!admission.ok) return refuse(`its facts cannot be read: ${admission.error.message}`);
  if (admission.bound.effectClass !== 'read') return refuse(`${plan.tool} is no read`);
  const held = heldCall(
    { callId, providerCallId: undefined, batch: FACTS_BATCH },
    admission,
    budgetsOf(run).approvalTtlMs,
  );
  return { kind: 'read', call: { ...held, factsFor: call.callId } };
}

const refuse = (why: string): FactStep => ({
  kind: 'refuse',
  refusal: { error: callError('PERMISSION_DENIED', `A fact that must be known is missing: ${why}`) },
});

function argumentsOf(plan: FactPlan, args: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const mapped = Object.entries(plan.arguments).map(
    ([name, source]) => [name, 'value' in source ? source.value : valueAt(args, source.argument)] as const,
  );
  return Object.fromEntries(mapped.filter(([, value]) => value !== undefined));
}

/** Of the settlement of a fact read; the call for which it was made is still held, or nobody needs it. */
export function factsRead(run: Run, read: Pick<Call, 'callId' | 'factsFor'>, data: CallSettled): FactsRead | undefined {
  const call = run.state.calls.find(({ callId }) => callId === read.factsFor);
  if (call?.state !== 'held' || call.facts === undefined || data.status !== 'succeeded') return undefined;
  if (data.contractDigest === null || data.result === null || data.result.fault !== null) return undefined;
  const sanitized = data.result.sanitized;
  const found = Object.entries(call.facts.values as Record<string, string>).map(([name, pointer]) => {
    return [name, factOf(name, valueAt(sanitized, pointer))] as const;
  });
  const missing = found.flatMap(([name, value]) => (value === undefined ? [name] : []));
  if (missing.length > 0) return { ok: false, missing };
  const values = Object.fromEntries(found) as CallFacts['values'];
  return { ok: true, facts: { callId: read.callId, contractDigest: data.contractDigest, values } };
}

const MAX_TEXT = 256;

function factOf(name: string, value: unknown): string | number | undefined {
  if (name === 'price' || name === 'quota') return Number.isSafeInteger(value) ? (value as number) : undefined;
  const text = name === 'resourceVersion' && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text !== 'string' || text.length > MAX_TEXT) return undefined;
  return name === 'resourceVersion' && text === '' ? undefined : text;
}
