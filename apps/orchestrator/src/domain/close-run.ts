import { runEnded } from './emissions.ts';
import { outcomeOf } from './outcome.ts';
import { isSettled } from './call-state.ts';
import { withState, type End, type Run } from './run-state.ts';
import type { Advanced, Input } from './saga.types.ts';

/** The one place where a run is over. After a limit the last results stay, so that the transcript can still be completed. */
export function closeRun(run: Run, input: Input, end: End, now: number): Advanced {
  const keep = end.status === 'budget_exhausted';
  const phase = { name: 'ended', end, outcome: outcomeOf(run.state.calls), at: now } as const;
  const ended = withState(run, {
    phase,
    drive: null,
    clock: stoppedClock(run, now),
    ...(keep
      ? {}
      : {
          sources: [],
          calls: run.state.calls.map((call) => (isSettled(call) ? { ...call, output: undefined } : call)),
        }),
  });
  return { run: ended, out: [runEnded(ended, input, phase)] };
}

export function stoppedClock({ state: { clock } }: Run, now: number): { leftMs: number; since: null } {
  const spentMs = clock.since === null ? 0 : now - clock.since;
  return { leftMs: Math.max(0, clock.leftMs - spentMs), since: null };
}
