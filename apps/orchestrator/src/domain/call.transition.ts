import type { CallSettled } from '#contracts';
import { digestText } from '#kernel';
import { amendEnd } from './amend-end.ts';
import { editNote } from './approval-edited.transition.ts';
import { errorForModel } from './call-error.ts';
import { foldUndo } from './compensation.ts';
import { cancelGranted, withdrawCall } from './emissions.ts';
import { factsRead } from './facts.ts';
import { shortDigest } from './limits.ts';
import { isOfModel } from './run-control.ts';
import {
  baseOf,
  isOut,
  isSettled,
  type AskedCall,
  type DecidedCall,
  type OutCall,
  type ProposedCall,
  type SettledCall,
} from './call-state.ts';
import { isCancelling, isEnded, isResumable, withCall, withState, type Run } from './run-state.ts';
import type { Dropped, Env, InputOf, SettlementSource, Step } from './saga.types.ts';
import { wayBackOf } from './way-back.ts';

const drop = (run: Run, dropped: Dropped): Step => ({ run, out: [], dropped });

/** The ids are shown to models and kept with the run: what a tool may return as sources is bounded. */
const MAX_SOURCES = 5_000;

/** Which facts may still move a call; anything else is history (R2). */
function outCall(run: Run, callId: string): OutCall | Dropped {
  const call = run.state.calls.find((candidate) => candidate.callId === callId);
  if (!call) return 'unknown_call';
  // A held call was shown to nobody: nobody else can say anything true about it.
  return isOut(call) ? call : call.state === 'held' ? 'foreign' : 'late';
}

export function approvalRequested(run: Run, input: InputOf<'ApprovalRequested'>, { now }: Env): Step {
  const call = outCall(run, input.callId);
  if (typeof call === 'string') return drop(run, call);
  const { approvalId, decisionNo, expiresAt } = input.data;
  if (call.state !== 'proposed' && (call.approvalId === approvalId || call.decisionNo >= decisionNo))
    return drop(run, 'late');
  const until = Date.parse(expiresAt) || call.proposal.runDeadline;
  const asked: AskedCall = { ...common(call, now), state: 'asked', approvalId, decisionNo, expiresAt: until };
  return { run: withCall(run, asked), out: isCancelling(run) ? [withdrawCall(run, input, asked, now)] : [] };
}

/** Approved or not, the call moves on without the person: policy grants or settles it. */
export function approvalDecided(run: Run, input: InputOf<'ApprovalDecided'>, { now }: Env): Step {
  const call = outCall(run, input.callId);
  if (typeof call === 'string') return drop(run, call);
  const { approvalId, decision } = input.data;
  if (call.state === 'decided' && call.approvalId === approvalId) return drop(run, 'late');
  if (call.state !== 'proposed' && call.approvalId !== approvalId) return drop(run, 'late');
  const decisionNo = call.state === 'proposed' ? 0 : call.decisionNo;
  const decided: DecidedCall = {
    ...common(call, now),
    state: 'decided',
    approvalId,
    decisionNo,
    approved: decision === 'approved',
  };
  const stops = run.state.phase.name === 'closing' && decided.approved;
  return { run: withCall(run, decided), out: stops ? [cancelGranted(run, input, decided, now)] : [] };
}

function common(call: OutCall, movedAt: number): Omit<ProposedCall, 'state'> {
  const { proposal, at, timeoutMs, undo } = call;
  return { ...baseOf(call), proposal, at, timeoutMs, ...(undo ? { undo } : {}), movedAt };
}

/** Only the holder of the right to settle counts: policy, or the pool that the call's contract names. */
export function callSettled(run: Run, input: InputOf<'CallSettled'>, env: Env): Step {
  const call = outCall(run, input.callId);
  if (typeof call === 'string') return drop(run, call);
  if (!mayComeFrom(call, input.from, input.data)) return drop(run, 'foreign');
  // The call that took its place is told by ApprovalEdited.
  if (input.from.kind === 'policy' && input.data.error?.replacedBy !== undefined) return drop(run, 'late');
  const ended = settle(run, call, input.data);
  // F4
  if (call.factsFor !== undefined) return { run: withCall(run, ended), out: [] };
  const folded = foldUndo(withCall(run, ended), ended, env.now);
  const { used } = folded.state;
  const bytes = resultBytes(input.data);
  const settled =
    bytes === 0 || run.definition.driver === 'call'
      ? folded
      : withState(folded, { used: { ...used, resultBytes: used.resultBytes + bytes } });
  const ids = isEnded(run) || run.definition.driver === 'call' ? [] : sourcesOf(call, input.data);
  const next =
    ids.length === 0
      ? settled
      : withState(settled, { sources: [...new Set([...run.state.sources, ...ids])].slice(-MAX_SOURCES) });
  // The late answer of an undo that was given up.
  return call.undoes === undefined ? { run: next, out: [] } : amendEnd(run, next, input, env.now);
}

/** A cancellation that came after the settlement, which its pool has told before. */
export function callCancellation(run: Run, input: InputOf<'CallCancellation'>): Step {
  const call = run.state.calls.find((candidate) => candidate.callId === input.callId);
  if (!call) return drop(run, 'unknown_call');
  if (!isSettled(call) || call.cancellation || input.from.kind !== 'pool') return drop(run, 'late');
  return { run: withCall(run, { ...call, cancellation: input.data }), out: [] };
}

function mayComeFrom(call: OutCall, from: SettlementSource, { settledBy }: CallSettled): boolean {
  switch (from.kind) {
    case 'policy':
      return settledBy === 'policy';
    case 'pool':
      return settledBy === 'executor' && from.pool === call.proposal.pool;
    case 'other':
      return false;
  }
}

function settle(run: Run, call: OutCall, data: CallSettled): SettledCall {
  return {
    ...baseOf(call),
    state: 'settled',
    status: data.status,
    effect: data.effect,
    errorCode: data.error?.code ?? data.result?.fault?.code ?? null,
    replayed: data.replayed,
    approvalId: data.approvalId ?? (call.state === 'proposed' ? null : call.approvalId),
    resourceIds: data.result?.evidence.resourceIds ?? [],
    ...wayBack(run, call, data),
    ...(call.factsFor === undefined ? {} : { facts: factsRead(run, call, data) }),
    ...(data.cancellation ? { cancellation: data.cancellation } : {}),
    ...(data.status === 'outcome_unknown' ? { pool: call.proposal.pool } : {}),
    ...(data.status === 'outcome_unknown' && data.error?.humanTakeover === false ? { looking: true } : {}),
    ...(takesOutput(run, call) && call.effectClass !== 'undo' ? outputFor(noteOf(call), data) : {}),
    ...(run.definition.driver === 'call' || call.factsFor !== undefined
      ? {}
      : { asked: shortDigest(call.proposal.argumentsDigest), came: shortDigest(outcomeDigest(data)) }),
  };
}

/** Only of calls whose contract says something about their undo. */
function wayBack(
  run: Run,
  { undo, proposal, dependsOn }: OutCall,
  data: CallSettled,
): Pick<SettledCall, 'wayBack' | 'pivot'> {
  if (undo === undefined) return {};
  if ('pivot' in undo) return data.effect === 'none' || data.replayed ? {} : { pivot: true };
  const { contractDigest, resources, arguments: args } = proposal;
  const call = { plan: undo, contractDigest, resources, arguments: args, made: madeBy(run), dependsOn };
  const found = wayBackOf(call, data);
  return found === undefined ? {} : { wayBack: found };
}

const madeBy = (run: Run): { callId: string; resourceIds: readonly string[] }[] =>
  run.state.calls.filter((call): call is SettledCall => isSettled(call) && call.wayBack !== undefined);

/** Also after a limit: a resumed run hands over what came in between. */
export const takesOutput = (run: Run, call: Pick<OutCall, 'batch' | 'factsFor'>): boolean =>
  call.factsFor === undefined && isOfModel(run, call) && (!isEnded(run) || isResumable(run));

/** The same for the same outcome: the text for the model is not, because its label names the call. */
const outcomeDigest = ({ status, error, result }: CallSettled): string =>
  status === 'succeeded' && result
    ? result.sanitizedDigest
    : digestText('outcome/v1', JSON.stringify([status, error?.code, error?.message]));

const resultBytes = ({ status, result }: CallSettled): number =>
  status === 'succeeded' && result ? Buffer.byteLength(result.model) : 0;

/** The model-facing view, or the error as JSON: nothing else of a result reaches a model (G10). */
export const outputOf = ({
  status,
  error,
  result,
}: Pick<CallSettled, 'error' | 'result'> & { readonly status: string }): string =>
  status === 'succeeded' && result
    ? result.model
    : status === 'succeeded'
      ? JSON.stringify({ ok: true })
      : errorForModel(status, error);

export const noteOf = (call: OutCall): string | undefined => call.proposal.edited && editNote(call.proposal.arguments);

export const outputFor = (
  note: string | undefined,
  data: Parameters<typeof outputOf>[0],
): Pick<SettledCall, 'output' | 'note'> =>
  note === undefined ? { output: outputOf(data) } : { note, output: `${note}${outputOf(data)}` };

const sourcesOf = (call: OutCall, { status, result }: CallSettled): string[] =>
  call.effectClass === 'read' && status === 'succeeded'
    ? (result?.evidence.sources ?? []).map((source) => source.id)
    : [];
