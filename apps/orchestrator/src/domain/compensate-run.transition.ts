import type { ErrorCode } from '#kernel';
import { closeCancelled } from './cancel-run.transition.ts';
import { keepEffects, startBack } from './compensation.ts';
import { commandRefused, compensationStarted, runEnded } from './emissions.ts';
import { mayKeep, roundsOf, statusOf, withState, type Order, type Phase, type Run } from './run-state.ts';
import type { Env, InputOf, Step } from './saga.types.ts';
import { closeByHand } from './taken-back-by-hand.ts';
import { backSteps, type BackStep } from './way-back-steps.ts';

type CompensateRun = InputOf<'CompensateRun'>;

/** A person's word on the effects of a run. The same command again says the same. */
export function compensateRun(run: Run, input: CompensateRun, env: Env): Step {
  const { commandId, principal, decision, calls } = input.data;
  const { phase, compensation } = run.state;
  const refuse = (code: ErrorCode, message: string): Step => ({
    run,
    out: [commandRefused(input, code, message, env.now)],
  });
  if (!mayKeep(principal, run)) return refuse('PERMISSION_DENIED', 'The run belongs to another principal');
  const known = roundsOf(run).findIndex((round) => round.commandId === commandId);
  if (known !== -1) {
    const over = phase.name === 'ended' ? [runEnded(run, input, phase)] : [];
    return { run, out: [compensationStarted(run, input, known), ...over] };
  }
  if (compensation?.keptBy === commandId && phase.name === 'ended') return { run, out: [runEnded(run, input, phase)] };
  if (decision === 'keep') {
    if (phase.name !== 'asking') return refuse('INVALID_ARGS', 'Nobody was asked whether the effects are kept');
    return keepEffects(run, input, env, commandId);
  }
  if (phase.name === 'compensating')
    return refuse('INVALID_ARGS', 'The run is on its way back already: wait for its end, or cancel it');
  const order: Order = { commandId, by: principal.id, leftovers: calls };
  if (phase.name !== 'ended' && phase.name !== 'asking') {
    if (calls.length > 0)
      return refuse('INVALID_ARGS', `The run is "${statusOf(run.state)}": nothing was left by a way back yet`);
    return closeFirst(run, input, env, order);
  }
  const fault = whatDoesNotFit(run, calls);
  if (fault !== undefined) return refuse('INVALID_ARGS', fault);
  const byHand = closeByHand(run, input, env, { commandId, by: principal.id, calls });
  if (!byHand.ok)
    return refuse(
      'INTERNAL',
      `The contract of ${byHand.callId} cannot be read, so the pool with its record is not known: repair the registry, or say skip`,
    );
  const begun = startBack(run, input, endOf(phase), env.now, order);
  return { run: begun.run, out: [...begun.out, ...byHand.out] };
}

/** An open run is cancelled first: what is out comes to its end, and then the run goes back. */
function closeFirst(run: Run, input: CompensateRun, env: Env, order: Order): Step {
  const { phase } = run.state;
  if (phase.name !== 'closing') return closeCancelled(run, input, env, undefined, order);
  if (phase.back?.commandId === order.commandId) return { run, out: [] };
  if (phase.back) {
    const message = 'The run goes back already, as soon as what is out has ended';
    return { run, out: [commandRefused(input, 'INVALID_ARGS', message, env.now)] };
  }
  return { run: withState(run, { phase: { ...phase, back: order } }), out: [] };
}

const endOf = (phase: Phase & { readonly name: 'ended' | 'asking' }) => phase.end;

function whatDoesNotFit(run: Run, calls: CompensateRun['data']['calls']): string | undefined {
  const steps = backSteps(run);
  const open = steps.filter(({ state }) => state === 'kept' || state === 'left');
  if (open.length === 0) return 'The run has done nothing that can be undone, or all of it is undone';
  if (calls.length === 0)
    return open.every((step) => step.unknown)
      ? 'It is not known whether what the run did has happened: resolve it first'
      : undefined;
  if (new Set(calls.map(({ callId }) => callId)).size < calls.length) return 'A call is named twice';
  for (const { callId, how } of calls) {
    const step = open.find((one) => one.callId === callId);
    if (!step) return `${callId} is not among what is left: ${idsOf(open)}`;
    if (run.state.calls.some((call) => call.callId === callId && call.state !== 'settled'))
      return `${callId} was never answered: nothing is known of it yet`;
    if (how === 'retry' && step.unknown)
      return `It is not known whether ${callId} has happened: resolve it first, or say skip or done`;
  }
  return undefined;
}

const idsOf = (steps: readonly BackStep[]): string => steps.map(({ callId }) => callId).join(', ');
