import type { CallReconciled } from '#contracts';
import { amendEnd } from './amend-end.ts';
import { noteOf, outputFor, takesOutput } from './call.transition.ts';
import { foldReconciled } from './compensation.ts';
import { withNews } from './outcome-news.ts';
import { baseOf, isOut, isSettled, type Call, type SettledCall } from './call-state.ts';
import { withCall, type Run } from './run-state.ts';
import type { Env, InputOf, Step } from './saga.types.ts';
import { closeKnownLater } from './taken-back-by-hand.ts';

/**
 * What became known of an unknown outcome. It is a fact about the call, whatever its run does meanwhile:
 * - the call's status and effect are those of the highest amendment; the order in which they come does not matter, and
 *   one that overtook the settlement settles the call;
 * - an end that was told stays as it was told; a RunAmended says what holds now, if that is something else;
 * - a model that was not told anything yet is told the truth; one that was told OUTCOME_UNKNOWN, or is being told, learns
 *   it with its next turn (outcome-news.ts).
 */
export function callReconciled(run: Run, input: InputOf<'CallReconciled'>, env: Env): Step {
  const call = run.state.calls.find((candidate) => candidate.callId === input.callId);
  if (!call) return { run, out: [], dropped: 'unknown_call' };
  const pool = poolOf(call);
  if (pool === undefined || input.from.kind !== 'pool' || input.from.pool !== pool)
    return { run, out: [], dropped: 'foreign' };
  if (isSettled(call) && (call.reconciled?.amendment ?? 0) >= input.data.amendment)
    return { run, out: [], dropped: 'late' };
  const settled = amended(run, call, pool, input.data);
  const next = foldReconciled(
    withNews(withCall(run, settled), call, input.data),
    settled,
    input.data.result?.sanitized,
    env.now,
  );
  const told = amendEnd(run, next, input, env.now);
  return { run: told.run, out: [...told.out, ...closeKnownLater(run, input, settled, pool, env.now)] };
}

const poolOf = (call: Call): string | undefined =>
  isOut(call) ? call.proposal.pool : isSettled(call) ? call.pool : undefined;

function amended(run: Run, call: Call, pool: string, data: CallReconciled): SettledCall {
  const base = isSettled(call)
    ? call
    : { ...baseOf(call), state: 'settled' as const, replayed: false, approvalId: null };
  // A request that is out is sent again with the same results.
  const untold = run.state.phase.name !== 'awaiting_model' && (!isSettled(call) || call.output !== undefined);
  return {
    ...base,
    status: data.status,
    effect: data.effect,
    errorCode: data.error?.code ?? data.result?.fault?.code ?? null,
    resourceIds: data.result?.evidence.resourceIds ?? [],
    pool,
    looking: undefined,
    reconciled: { amendment: data.amendment, commandId: data.commandId },
    ...(untold && takesOutput(run, call)
      ? outputFor(isSettled(call) ? call.note : isOut(call) ? noteOf(call) : undefined, data)
      : {}),
  };
}
