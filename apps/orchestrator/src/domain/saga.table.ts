import { advance } from './advance.ts';
import { approvalEdited } from './approval-edited.transition.ts';
import { approvalDecided, approvalRequested, callCancellation, callSettled } from './call.transition.ts';
import { finishRun, proposeByPerson, proposeCalls, proposeTooLate } from './client.transition.ts';
import { cancelRun } from './cancel-run.transition.ts';
import { compensateRun } from './compensate-run.transition.ts';
import { controlRun } from './control-run.transition.ts';
import { commandRefused } from './emissions.ts';
import { turnCompleted, turnFailed, turnTooLate } from './model.transition.ts';
import { callReconciled } from './call-reconciled.transition.ts';
import { resolveCall } from './resolve-call.transition.ts';
import { resumeRun } from './resume-run.transition.ts';
import type { PhaseName, Run } from './run-state.ts';
import type { CommandType, Env, Input, InputOf, InputType, Step } from './saga.types.ts';
import { startAgain, startRun } from './start-run.transition.ts';
import { woken } from './timer.transition.ts';
import { afterProgress } from './timers.ts';

/**
 * The saga: (phase, input) → (next state, messages). Reading the two tables tells all.
 *
 * Owns: runs and their calls until CallProposed. Does not own: decisions, grants, effects, transcripts.
 * T1 commands may be illegal and are answered; facts never are: late and repeated ones change nothing.
 * T2 no transition reads a clock, a database or chance; the same state and input give the same bytes.
 * T3 a step that changes nothing returns the run that it was given.
 */
type Transition<T extends InputType> = (run: Run, input: InputOf<T>, env: Env) => Step;
type Row = { readonly [T in InputType]: Transition<T> };

const nothing = (run: Run): Step => ({ run, out: [] });
/** A call's fate does not depend on the phase of its run; finding it out neither. */
const callFacts = {
  ApprovalRequested: approvalRequested,
  ApprovalDecided: approvalDecided,
  ApprovalEdited: approvalEdited,
  CallSettled: callSettled,
  CallCancellation: callCancellation,
  CallReconciled: callReconciled,
  ResolveCall: resolveCall,
} as const;

/** Each looks at the phase itself: control-run.transition.ts. */
const hands = { PauseRun: controlRun, TakeOverRun: controlRun, HandBackRun: controlRun } as const;

// prettier-ignore
export const SAGA: { readonly [P in PhaseName]: Row } = {
  open:           { ...callFacts, ...hands, StartRun: startAgain, ProposeCalls: proposeCalls,    FinishRun: finishRun, CancelRun: cancelRun, ResumeRun: resumeRun, CompensateRun: compensateRun, TurnCompleted: turnTooLate,   TurnFailed: turnTooLate, Woken: woken },
  awaiting_model: { ...callFacts, ...hands, StartRun: startAgain, ProposeCalls: proposeByPerson, FinishRun: finishRun, CancelRun: cancelRun, ResumeRun: resumeRun, CompensateRun: compensateRun, TurnCompleted: turnCompleted, TurnFailed: turnFailed,  Woken: woken },
  awaiting_calls: { ...callFacts, ...hands, StartRun: startAgain, ProposeCalls: proposeByPerson, FinishRun: finishRun, CancelRun: cancelRun, ResumeRun: resumeRun, CompensateRun: compensateRun, TurnCompleted: turnTooLate,   TurnFailed: turnTooLate, Woken: woken },
  finishing:      { ...callFacts, ...hands, StartRun: startAgain, ProposeCalls: proposeTooLate,  FinishRun: finishRun, CancelRun: cancelRun, ResumeRun: resumeRun, CompensateRun: compensateRun, TurnCompleted: turnTooLate,   TurnFailed: turnTooLate, Woken: woken },
  closing:        { ...callFacts, ...hands, StartRun: startAgain, ProposeCalls: proposeTooLate,  FinishRun: finishRun, CancelRun: cancelRun, ResumeRun: resumeRun, CompensateRun: compensateRun, TurnCompleted: turnTooLate,   TurnFailed: turnTooLate, Woken: woken },
  asking:         { ...callFacts, ...hands, StartRun: startAgain, ProposeCalls: proposeTooLate,  FinishRun: finishRun, CancelRun: cancelRun, ResumeRun: resumeRun, CompensateRun: compensateRun, TurnCompleted: turnTooLate,   TurnFailed: turnTooLate, Woken: woken },
  compensating:   { ...callFacts, ...hands, StartRun: startAgain, ProposeCalls: proposeTooLate,  FinishRun: finishRun, CancelRun: cancelRun, ResumeRun: resumeRun, CompensateRun: compensateRun, TurnCompleted: turnTooLate,   TurnFailed: turnTooLate, Woken: woken },
  ended:          { ...callFacts, ...hands, StartRun: startAgain, ProposeCalls: proposeTooLate,  FinishRun: finishRun, CancelRun: cancelRun, ResumeRun: resumeRun, CompensateRun: compensateRun, TurnCompleted: turnTooLate,   TurnFailed: turnTooLate, Woken: nothing },
};

const unknownRun = (): Step => ({ run: null, out: [], dropped: 'unknown_run' });
const notFound = (input: InputOf<CommandType>, env: Env): Step => ({
  run: null,
  out: [commandRefused(input, 'NOT_FOUND', 'There is no such run', env.now)],
});

/** Before its StartRun a run does not exist, for other tenants it never does (G12). */
const ABSENT: { readonly [T in InputType]: (input: InputOf<T>, env: Env) => Step } = {
  StartRun: startRun,
  ProposeCalls: notFound,
  FinishRun: notFound,
  CancelRun: notFound,
  ResumeRun: notFound,
  CompensateRun: notFound,
  ResolveCall: notFound,
  PauseRun: notFound,
  TakeOverRun: notFound,
  HandBackRun: notFound,
  TurnCompleted: unknownRun,
  TurnFailed: unknownRun,
  ApprovalRequested: unknownRun,
  ApprovalDecided: unknownRun,
  ApprovalEdited: unknownRun,
  CallSettled: unknownRun,
  CallCancellation: unknownRun,
  CallReconciled: unknownRun,
  Woken: unknownRun,
};

/** The one interpreter: the table's transition, then what follows from the new state, then the timers. */
export function step(run: Run | null, input: Input, env: Env): Step {
  const first = run === null ? begin(input, env) : (foreignTenant(run, input, env) ?? apply(run, input, env));
  if (first.run === null || first.run === run) return first;
  const next = advance(first.run, input, env);
  const timed =
    input.type === 'Woken' && next.out.length === 0 && first.run.state.phase === run?.state.phase
      ? next.run
      : afterProgress(next.run, env.now);
  return { ...first, run: timed, out: [...first.out, ...next.out] };
}

const begin = <T extends InputType>(input: InputOf<T> & { type: T }, env: Env): Step => ABSENT[input.type](input, env);
const apply = <T extends InputType>(run: Run, input: InputOf<T> & { type: T }, env: Env): Step =>
  SAGA[run.state.phase.name][input.type as T](run, input, env);

function foreignTenant(run: Run, input: Input, env: Env): Step | undefined {
  if (input.tenant === run.definition.tenant) return undefined;
  switch (input.type) {
    case 'StartRun':
      return { run, out: [commandRefused(input, 'IDEMPOTENCY_CONFLICT', 'The run id is taken', env.now)] };
    case 'ProposeCalls':
    case 'FinishRun':
    case 'CancelRun':
    case 'ResumeRun':
    case 'CompensateRun':
    case 'ResolveCall':
    case 'PauseRun':
    case 'TakeOverRun':
    case 'HandBackRun':
      return { run, out: notFound(input, env).out };
    default:
      return { run, out: [], dropped: 'foreign' };
  }
}
