import type { RunControl } from '#contracts';
import type { ErrorCode } from '#kernel';
import { dropHeld } from './admit-batch.ts';
import { callError } from './call-error.ts';
import { commandRefused, runControlled } from './emissions.ts';
import { takenOverBy, type Control } from './run-control.ts';
import type { Call } from './call-state.ts';
import { episodeOf, mayKeep, statusOf, withState, type Run } from './run-state.ts';
import type { ControlType, Emission, Env, Input, InputOf, Step } from './saga.types.ts';

/**
 * People's hands on a run: (none) → paused ⇄ … → taken_over → handed back = (none).
 *
 * | now          | PauseRun | TakeOverRun                    | HandBackRun |
 * | ------------ | -------- | ------------------------------ | ----------- |
 * | none         | paused   | taken_over                     | refused     |
 * | paused       | refused  | taken_over                     | none        |
 * | taken_over   | refused  | taken_over, by another person  | none        |
 *
 * H1 while a hand is on it, nothing of its driver is begun: no turn, no call. What is out comes to its end, and the wall
 *    clock stands still, for at most MAX_HOLD_MS (timers.ts).
 * H2 paused: what was proposed waits. Taken over: what was proposed and not begun ends as CANCELLED, and only the person
 *    proposes, with an own principal, permissions and operation keys.
 * H3 with the hand-back a model is told which tools the person called and how that ended, and the person's own words:
 *    never arguments or results (hand-back-note.ts).
 * H4 the same command again says the same; whatever ends the run takes the hand off.
 */
const CONTROL: Readonly<Record<ControlType, RunControl>> = {
  PauseRun: 'paused',
  TakeOverRun: 'taken_over',
  HandBackRun: 'handed_back',
};

export function controlRun(run: Run, input: InputOf<ControlType>, env: Env): Step {
  const { commandId, principal, reason = null } = input.data;
  const refuse = (code: ErrorCode, message: string): Step => ({
    run,
    out: [commandRefused(input, code, message, env.now)],
  });
  if (!mayKeep(principal, run)) return refuse('PERMISSION_DENIED', 'The run belongs to another principal');
  const controls = run.state.controls ?? [];
  const known = controls.findIndex((one) => one.commandId === commandId);
  if (known !== -1) return { run, out: [runControlled(run, input, known)] };
  const fault = whyNot(run, input.type, principal.id);
  if (fault !== undefined) return refuse('INVALID_ARGS', fault);
  const control = CONTROL[input.type];
  const ordered = withState(run, {
    controls: [...controls, { commandId, control, by: principal.id, reason, episode: episodeOf(run), at: env.now }],
  });
  const said = runControlled(ordered, input, controls.length);
  if (control === 'handed_back') return { run: handBack(ordered, principal.id, reason), out: [said] };
  const hand: Control = { kind: control, by: principal.id, since: env.now };
  const held = withState(ordered, { control: hand });
  if (control === 'paused') return { run: held, out: [said] };
  const cleared = cancelHeld(held, input, env);
  return { run: cleared.run, out: [said, ...cleared.out] };
}

function whyNot(run: Run, type: ControlType, by: string): string | undefined {
  const { control, phase } = run.state;
  if (run.definition.driver === 'call') return 'The run of one direct call is only cancelled';
  if (['ended', 'closing', 'asking', 'compensating'].includes(phase.name))
    return `The run is at its end ("${statusOf(run.state)}")`;
  switch (type) {
    case 'HandBackRun':
      return control ? undefined : `Nobody has paused the run or taken it over; it is "${statusOf(run.state)}"`;
    case 'PauseRun':
      return control ? `The run is "${control.kind}" already` : undefined;
    case 'TakeOverRun':
      if (phase.name === 'finishing') return 'The run takes nothing new: it ends with what is out';
      return takenOverBy(run) === by ? 'You have taken the run over already' : undefined;
  }
}

/** Only a model is told; several hands before its next turn are told together. */
function handBack(run: Run, by: string, reason: string | null): Run {
  const { phase, turns, control, handBack: earlier, batches } = run.state;
  const free = withState(run, { control: undefined });
  if (run.definition.driver !== 'agent' || control?.kind !== 'taken_over') return free;
  const turn = (phase.name === 'awaiting_model' ? phase.turn : turns) + 1;
  const first = batches.findIndex((batch) => batch.by !== undefined);
  return withState(free, { handBack: { turn, batch: earlier?.batch ?? Math.max(first, 0), by, reason } });
}

/** What was proposed and not begun does not wait for the person: who proposed it may do so anew. */
export function cancelHeld(run: Run, input: Input, env: Env): { run: Run; out: readonly Emission[] } {
  const out: Emission[] = [];
  const error = callError('CANCELLED', 'A person took the run over before the call was made');
  const calls = run.state.calls.map((call): Call => {
    if (call.state !== 'held') return call;
    const dropped = dropHeld(run, input, call, { error, status: 'cancelled' }, env.now);
    out.push(dropped.out);
    return dropped.call;
  });
  return { run: withState(run, { calls }), out };
}
