import type { ApprovalEdited } from '#contracts';
import { admitProposal } from './admit-proposal.ts';
import { amendEnd } from './amend-end.ts';
import { heldCall, rejectedCall, type Refusal } from './admit-batch.ts';
import { callError } from './call-error.ts';
import { callRejected } from './emissions.ts';
import { shortDigest } from './limits.ts';
import { isOfModel, takenOverBy } from './run-control.ts';
import { baseOf, isOut, type Call, type OutCall, type SettledCall } from './call-state.ts';
import { budgetsOf, withState, type Run } from './run-state.ts';
import { ContractsMissing, type Emission, type Env, type InputOf, type Step } from './saga.types.ts';

/**
 * A person wrote other arguments for a call that was asked about.
 *
 * D1 this fact alone does both: the call is settled as denied, and the edited one takes its place: in the order of its
 *    batch, for the calls that depend on it, and for the model, which gets one result for its one proposal. The
 *    settlement that policy sends with it tells everybody else and changes nothing here, whichever of the two comes first.
 * D2 the edited call's id follows from the approval: the fact again, or late, changes nothing.
 * D3 a call that was replaced counts for nothing: no denial, no lost write, no call of the budget.
 * D4 a run that begins nothing any more, or that a person has taken over, ends the edited call at once.
 */
export function approvalEdited(run: Run, input: InputOf<'ApprovalEdited'>, env: Env): Step {
  const { calls } = run.state;
  const call = calls.find((candidate) => candidate.callId === input.callId);
  if (!call) return { run, out: [], dropped: 'unknown_call' };
  const { replacedBy } = input.data;
  if (!isOut(call) || calls.some((other) => other.callId === replacedBy))
    return { run, out: [], dropped: call.state === 'held' ? 'foreign' : 'late' };
  const old = replaced(call, input.data);
  const next = editedCall(run, input, call, env);
  const turned = calls.flatMap((other): Call[] =>
    other.callId !== call.callId ? [dependingOn(other, call.callId, replacedBy)] : next ? [old, next.call] : [old],
  );
  const told = amendEnd(run, withState(run, { calls: turned }), input, env.now);
  return { run: told.run, out: [...(next?.out ?? []), ...told.out] };
}

/** Its result waits for the one of the call that took its place. */
function replaced(call: OutCall, { approvalId, replacedBy }: ApprovalEdited): SettledCall {
  return {
    ...baseOf(call),
    state: 'settled',
    status: 'denied',
    effect: 'none',
    errorCode: 'APPROVAL_DENIED',
    replayed: false,
    approvalId,
    resourceIds: [],
    replacedBy,
    asked: shortDigest(call.proposal.argumentsDigest),
  };
}

function editedCall(
  run: Run,
  input: InputOf<'ApprovalEdited'>,
  old: OutCall,
  env: Env,
): { call: Call; out: readonly Emission[] } | undefined {
  const { phase } = run.state;
  if (phase.name === 'ended' || phase.name === 'asking' || phase.name === 'compensating') return undefined;
  const { principal, contractDigest } = old.proposal;
  if (!env.contracts.has(contractDigest)) throw new ContractsMissing([contractDigest]);
  const { replacedBy: callId, editor, arguments: args } = input.data;
  const { providerCallId, batch, dependsOn, tool } = old;
  const base = { callId, providerCallId, batch, ...(dependsOn ? { dependsOn } : {}) };
  const proposal = {
    tool,
    arguments: JSON.stringify(args),
    ...(providerCallId === undefined ? {} : { providerCallId }),
  };
  const { definition, state } = run;
  const context = { definition, principal, callId, sources: state.sources, contracts: env.contracts };
  const admission = admitProposal(proposal, { ...context, offered: definition.toolset, origin: 'user' });
  const refusal: Refusal | undefined = whyNot(run) ?? (admission.ok ? undefined : { error: admission.error });
  if (admission.ok && refusal === undefined) {
    const held = heldCall(base, admission, budgetsOf(run).approvalTtlMs);
    return { call: { ...held, bound: { ...held.bound, edited: { callId: old.callId, by: editor.id } } }, out: [] };
  }
  const { status = 'rejected', error } = refusal!;
  const told = { ...base, tool, contractDigest, argumentsDigest: input.data.argumentsDigest, principal, error, status };
  const call = rejectedCall(run, { ...base, tool, effectClass: old.effectClass }, { error, status });
  const note = isOfModel(run, old) ? editNote(args) : undefined;
  return {
    call: note === undefined ? call : { ...call, output: `${note}${call.output}` },
    out: [callRejected(run, input, told, env.now)],
  };
}

function whyNot(run: Run): Refusal | undefined {
  const why =
    run.state.phase.name === 'closing'
      ? 'The run is at its end: the edited call was not made'
      : takenOverBy(run) === undefined
        ? undefined
        : 'A person took the run over before the edited call was made';
  return why === undefined ? undefined : { error: callError('CANCELLED', why), status: 'cancelled' };
}

const dependingOn = (call: Call, old: string, edited: string): Call =>
  call.dependsOn?.includes(old) ? { ...call, dependsOn: call.dependsOn.map((id) => (id === old ? edited : id)) } : call;

/** What the model is told before the result. */
export const editNote = (args: Readonly<Record<string, unknown>>): string =>
  `A person changed the arguments of this call before it could run. These count, not the ones that were proposed:\n${JSON.stringify(args)}\nWhat came of it:\n`;
