import { callIdOf } from '#kernel';
import { admitBatch, type NamedProposal } from './admit-batch.ts';
import { endRun } from './advance.ts';
import { cancelHeld } from './control-run.transition.ts';
import { turnRecorded } from './emissions.ts';
import { completedEnd, limitEnd, modelEnd } from './ends.ts';
import { forgetNews } from './outcome-news.ts';
import { takenOverBy } from './run-control.ts';
import { isSettled, type Call } from './call-state.ts';
import { budgetsOf, withState, type End, type Run } from './run-state.ts';
import type { Advanced, Env, Input, InputOf, Step } from './saga.types.ts';
import { MICROS } from './tenant-budget.ts';
import { boundByTenant, settleRequest, tenantEnd } from './tenant-use.ts';
import { settleTurn, unsentTurn } from './usage.ts';

/** Nobody waits for it any more; what it had reserved is settled all the same (B4 in tenant-budget.ts). */
export const turnTooLate = (run: Run, { data }: InputOf<'TurnCompleted' | 'TurnFailed'>): Step => ({
  run: settleRequest(run, data.turn, 'code' in data ? usageOfFailed(data) : data.usage),
  out: [],
  dropped: 'late',
});

/** A fault of ours does not tell whether the request was made. */
const usageOfFailed = ({ code, usage }: InputOf<'TurnFailed'>['data']) =>
  usage ?? (code === 'INTERNAL' ? undefined : 'unsent');

/** Proposals become calls; text alone is the final answer; neither is a fault of the model. */
export function turnCompleted(run: Run, input: InputOf<'TurnCompleted'>, env: Env): Step {
  const { turn, proposals, text } = input.data;
  if (run.state.phase.name !== 'awaiting_model' || run.state.phase.turn !== turn) return turnTooLate(run, input);
  const written = `${text ?? ''}${proposals.map((proposal) => proposal.arguments).join('')}`;
  const folded = fold(settleTurn(settleRequest(run, turn, input.data.usage), input.data.usage, written), turn);
  if (proposals.length > 0) return takeProposals(folded, input, env);
  const answer = text === null || text.trim() === '' ? null : text;
  const end =
    answer === null ? modelEnd('MODEL_PROTOCOL', 'The model gave neither a call nor an answer') : completedEnd(answer);
  if (answer !== null && takenOverBy(run) !== undefined) {
    // The person ends the run or hands it back; the model's words stand in its transcript.
    const kept = withState(folded, { phase: { name: 'awaiting_calls' } });
    return { run: kept, out: [turnRecorded(kept, input, [], null, env.now)] };
  }
  const ended = endAfterCalls(folded, input, end, env.now);
  return { run: ended.run, out: [turnRecorded(ended.run, input, [], answer, env.now), ...ended.out] };
}

function takeProposals(run: Run, input: InputOf<'TurnCompleted'>, env: Env): Step {
  const { definition, state } = run;
  const named = input.data.proposals.map((proposal, index): NamedProposal => ({
    ...proposal,
    callId: callIdOf(definition.runId, state.calls.length + index + 1),
  }));
  const batch = { commandId: `turn-${input.data.turn}`, requestDigest: null };
  const { run: admitted, out } = admitBatch(
    run,
    input,
    { principal: definition.principal, proposals: named, batch },
    env,
  );
  const waiting = withState(admitted, { phase: { name: 'awaiting_calls' } });
  const cleared = takenOverBy(run) === undefined ? { run: waiting, out: [] } : cancelHeld(waiting, input, env);
  const callIds = named.map((proposal) => proposal.callId);
  const recorded = turnRecorded(cleared.run, input, callIds, null, env.now);
  return { run: cleared.run, out: [recorded, ...out, ...cleared.out] };
}

/** A person's calls may be out beside the turn: they come to their end first. */
function endAfterCalls(run: Run, input: Input, end: End, now: number): Advanced {
  if (run.state.calls.every(isSettled)) return endRun(run, input, end, now);
  return { run: withState(run, { phase: { name: 'finishing', end } }), out: [] };
}

/** The turn is over, and what it was given stands in its transcript. */
const fold = (settled: Run, turn: number): Run =>
  withState(settled, {
    turns: turn,
    calls: forgetOutputs(settled.state.calls),
    news: forgetNews(settled, turn),
    ...((settled.state.handBack?.turn ?? Infinity) <= turn ? { handBack: undefined } : {}),
  });

/** The model has them now: its transcript is the model adapter's. */
const forgetOutputs = (calls: readonly Call[]): readonly Call[] =>
  calls.map((call) =>
    call.state === 'settled' && call.output !== undefined ? { ...call, output: undefined, note: undefined } : call,
  );

export function turnFailed(run: Run, input: InputOf<'TurnFailed'>, env: Env): Step {
  const { turn, code, message, limit, usage } = input.data;
  if (run.state.phase.name !== 'awaiting_model' || run.state.phase.turn !== turn) return turnTooLate(run, input);
  const settled = settleRequest(run, turn, usageOfFailed(input.data));
  const folded = fold(usage ? settleTurn(settled, usage, '') : unsentTurn(settled), turn);
  const tenant = tenantLimitOf(run, input.data, env);
  const own = limit === undefined ? modelEnd(code, message) : limitEnd(limit, budgetsOf(run)[limit], message);
  const end = tenant ? tenantEnd(tenant) : own;
  return endAfterCalls(folded, input, end, env.now);
}

/** The request did not fit what was reserved for it, and not because of the run's own limits. */
function tenantLimitOf(run: Run, { code, limit }: InputOf<'TurnFailed'>['data'], env: Env) {
  if (code !== 'BUDGET_EXHAUSTED') return undefined;
  if (limit === undefined) return boundByTenant(run, 'tokens', env);
  const { maxCostUsd, allowUnknownCost } = budgetsOf(run);
  const { reserved, used } = run.state;
  const byTenant =
    (limit === 'allowUnknownCost' && allowUnknownCost) ||
    (limit === 'maxCostUsd' &&
      (allowUnknownCost || (reserved?.cost ?? Infinity) < (maxCostUsd - used.costUsd) * MICROS));
  return byTenant ? boundByTenant(run, 'costUsd', env) : undefined;
}
