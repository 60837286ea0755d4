import { dropHeld } from './admit-batch.ts';
import { endRun } from './advance.ts';
import { callError } from './call-error.ts';
import { giveUpUndos, keepEffects } from './compensation.ts';
import { callProposed, requestTurn, stopCalls, withdrawCall } from './emissions.ts';
import { limitEnd } from './ends.ts';
import { isOut, type Call } from './call-state.ts';
import { budgetsOf, isCancelling, withState, type Run } from './run-state.ts';
import type { Emission, Env, InputOf, Step } from './saga.types.ts';
import { deadlineOf, MAX_HOLD_MS, nextDrive } from './timers.ts';

type Woken = InputOf<'Woken'>;

/** The wall clock first, then what is outstanding is sent again. */
export function woken(run: Run, input: Woken, env: Env): Step {
  const deadline = deadlineOf(run);
  if (deadline !== null && deadline <= env.now) return timeIsUp(run, input, env);
  const { drive } = run.state;
  if (drive === null || drive.at > env.now) return { run, out: [] };
  const next = withState(run, { drive: nextDrive(run, env.now, drive.tries + 1) });
  return { run: next, out: outstanding(run, input, env) };
}

function timeIsUp(run: Run, input: Woken, env: Env): Step {
  switch (run.state.phase.name) {
    case 'closing':
      return graceEnded(run, input, env);
    case 'asking':
      return keepEffects(run, input, env, undefined);
    case 'compensating':
      return { run: giveUpUndos(run, env.now), out: [] };
    default:
      return wallClockEnded(run, input, env);
  }
}

/** Nothing new is begun: held calls end here, calls that wait at their pool too; what runs comes to its end. */
function wallClockEnded(run: Run, input: Woken, env: Env): Step {
  const { phase } = run.state;
  const limit = budgetsOf(run).wallClockMs;
  const out: Emission[] = [];
  const calls = run.state.calls.map((call): Call => {
    if (call.state !== 'held') return call;
    const error = callError('BUDGET_EXHAUSTED', `The run's time was over (wallClockMs ${limit})`);
    const dropped = dropHeld(run, input, call, { error, limit: 'wallClockMs' }, env.now);
    out.push(dropped.out);
    return dropped.call;
  });
  const end =
    phase.name === 'finishing' && phase.end.status !== 'completed'
      ? phase.end
      : limitEnd('wallClockMs', limit, usedOf(run));
  const closing = withState(run, { calls, control: undefined, phase: { name: 'closing', end, since: env.now } });
  return { run: closing, out: [...out, ...stopCalls(closing, input, env.now)] };
}

const usedOf = ({ state: { control, clock } }: Run): string =>
  control && clock.since === null
    ? `it was ${control.kind} for ${MAX_HOLD_MS} ms`
    : 'it was used without the time that persons took';

/** Whoever holds the open calls is silent: the run says so instead of waiting for ever (G8, G9). */
function graceEnded(run: Run, input: Woken, env: Env): Step {
  return run.state.phase.name === 'closing' ? endRun(run, input, run.state.phase.end, env.now) : { run, out: [] };
}

/** Against loss on the way: the receivers know these messages by their business identity and answer from their records. */
function outstanding(run: Run, input: Woken, env: Env): Emission[] {
  const { phase, calls } = run.state;
  if (phase.name === 'awaiting_model') return [requestTurn(run, input, phase.turn, env.now)];
  const out = calls.filter(isOut);
  const moving = out.filter((call) => call.state !== 'asked');
  // A person takes time: their calls are sent again only when nothing else is out, which is rarely.
  const again = (moving.length > 0 ? moving : out).map((call) => callProposed(run, input, call));
  if (phase.name === 'closing') return [...again, ...stopCalls(run, input, env.now)];
  return isCancelling(run) ? [...again, ...out.map((call) => withdrawCall(run, input, call, env.now))] : again;
}
