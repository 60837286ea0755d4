import { callIdOf } from '#kernel';
import { admitBatch, type NamedProposal } from './admit-batch.ts';
import { endRun } from './advance.ts';
import { turnRecorded } from './emissions.ts';
import { completedEnd, limitEnd, modelEnd } from './ends.ts';
import { budgetsOf, withState, type Call, type Run } from './run-state.ts';
import type { Env, InputOf, Step } from './saga.types.ts';
import { settleTurn, unsentTurn } from './usage.ts';

const late = (run: Run): Step => ({ run, out: [], dropped: 'late' });

/** Proposals become calls; text alone is the final answer; neither is a fault of the model. */
export function turnCompleted(run: Run, input: InputOf<'TurnCompleted'>, env: Env): Step {
  const { turn, proposals, text } = input.data;
  if (run.state.phase.name !== 'awaiting_model' || run.state.phase.turn !== turn) return late(run);
  const written = `${text ?? ''}${proposals.map((proposal) => proposal.arguments).join('')}`;
  const folded = fold(settleTurn(run, input.data.usage, written), turn);
  if (proposals.length > 0) return takeProposals(folded, input, env);
  const answer = text === null || text.trim() === '' ? null : text;
  const end =
    answer === null ? modelEnd('MODEL_PROTOCOL', 'The model gave neither a call nor an answer') : completedEnd(answer);
  const ended = endRun(folded, input, end, env.now);
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
  const next = withState(admitted, { phase: { name: 'awaiting_calls' } });
  const callIds = named.map((proposal) => proposal.callId);
  return { run: next, out: [turnRecorded(next, input, callIds, null, env.now), ...out] };
}

/** The turn is over, and what it was given stands in its transcript. */
const fold = (settled: Run, turn: number): Run =>
  withState(settled, { turns: turn, calls: forgetOutputs(settled.state.calls) });

/** The model has them now: its transcript is the model adapter's. */
const forgetOutputs = (calls: readonly Call[]): readonly Call[] =>
  calls.map((call) => (call.state === 'settled' && call.output !== undefined ? { ...call, output: undefined } : call));

export function turnFailed(run: Run, input: InputOf<'TurnFailed'>, env: Env): Step {
  const { turn, code, message, limit, usage } = input.data;
  if (run.state.phase.name !== 'awaiting_model' || run.state.phase.turn !== turn) return late(run);
  const folded = fold(usage ? settleTurn(run, usage, '') : unsentTurn(run), turn);
  const end = limit === undefined ? modelEnd(code, message) : limitEnd(limit, budgetsOf(run)[limit], message);
  return endRun(folded, input, end, env.now);
}
