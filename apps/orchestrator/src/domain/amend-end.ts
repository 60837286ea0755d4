import { runAmended } from './emissions.ts';
import { outcomeOf } from './outcome.ts';
import { withState, type Run } from './run-state.ts';
import type { Advanced, Input } from './saga.types.ts';
import { reckoning } from './way-back-steps.ts';

/** An end stands as it was told; what became known since is told beside it, once for each change. */
export function amendEnd(before: Run, run: Run, input: Input, now: number): Advanced {
  if (run.state.phase.name !== 'ended') return { run, out: [] };
  const back = backOf(run);
  const sameBack = back === undefined || JSON.stringify(back) === JSON.stringify(backOf(before));
  if (sameBack && outcomeOf(run.state.calls) === outcomeOf(before.state.calls)) return { run, out: [] };
  const { compensation, amendments = 0 } = run.state;
  const told = withState(run, {
    amendments: amendments + 1,
    ...(back === undefined || compensation === undefined
      ? {}
      : { compensation: { ...compensation, status: back.status } }),
  });
  return { run: told, out: [runAmended(told, input, now, back)] };
}

function backOf(run: Run) {
  const { status, rounds } = run.state.compensation ?? { status: 'asked', rounds: [] };
  return status === 'done' || status === 'partial' ? { round: rounds.length, ...reckoning(run) } : undefined;
}
