import { dropHeld } from './admit-batch.ts';
import { callError } from './call-error.ts';
import { keepEffects, seekNoMore } from './compensation.ts';
import { commandRefused, runEnded, stopCalls, withdrawCall } from './emissions.ts';
import { cancelledEnd } from './ends.ts';
import type { Call } from './call-state.ts';
import { isCancelling, mayKeep, withState, type Order, type Phase, type Run } from './run-state.ts';
import type { Emission, Env, InputOf, Step } from './saga.types.ts';

type CancelRun = InputOf<'CancelRun'>;

/**
 * Nothing is begun any more: held calls end here; whoever holds a call that is out is asked to end it, and says what came
 * of that; the run ends when all have. The first cancel counts.
 */
export function cancelRun(run: Run, input: CancelRun, env: Env): Step {
  const { principal, reason } = input.data;
  const { phase } = run.state;
  if (!mayKeep(principal, run))
    return refuse(run, input, env, 'PERMISSION_DENIED', 'The run belongs to another principal');
  if (phase.name === 'ended')
    return phase.end.status === 'cancelled'
      ? { run, out: [runEnded(run, input, phase)] }
      : refuse(
          run,
          input,
          env,
          'INVALID_ARGS',
          `The run has ended as "${phase.end.status}": nothing is left to cancel`,
        );
  if (run.state.cancelledBy === input.data.commandId || isCancelling(run)) return { run, out: [] };
  if (phase.name === 'asking') return keepEffects(run, input, env, undefined);
  if (phase.name === 'compensating') return stopBack(run, phase, input, env);
  return closeCancelled(run, input, env, reason);
}

/** @param back what is to follow when all calls have ended */
export function closeCancelled(
  run: Run,
  input: CancelRun | InputOf<'CompensateRun'>,
  env: Env,
  reason?: string,
  back?: Order,
): Step {
  const { principal, commandId } = input.data;
  const out: Emission[] = [];
  const error = callError('CANCELLED', 'The run was cancelled before the call was made');
  const calls = run.state.calls.map((call): Call => {
    if (call.state !== 'held') return call;
    const dropped = dropHeld(run, input, call, { error, status: 'cancelled' }, env.now);
    out.push(dropped.out);
    return dropped.call;
  });
  const end = cancelledEnd(principal.id, reason);
  const next = { name: 'closing', end, since: env.now, by: principal.id, ...(back ? { back } : {}) } as const;
  const closing = withState(run, { calls, cancelledBy: commandId, control: undefined, phase: next });
  return { run: closing, out: [...out, ...stopCalls(closing, input, env.now)] };
}

/** The undos that are out are waited for; those that wait for a person are withdrawn. */
function stopBack(run: Run, phase: Phase & { name: 'compensating' }, input: CancelRun, env: Env): Step {
  const out = run.state.calls.filter((call) => call.state === 'asked');
  return {
    run: withState(seekNoMore(run), {
      phase: { ...phase, stopped: true, seekUntil: null },
      cancelledBy: input.data.commandId,
    }),
    out: out.map((call) => withdrawCall(run, input, call, env.now)),
  };
}

const refuse = (
  run: Run,
  input: CancelRun,
  env: Env,
  code: Parameters<typeof commandRefused>[1],
  message: string,
): Step => ({ run, out: [commandRefused(input, code, message, env.now)] });
