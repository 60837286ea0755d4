import { isOut, type OutCall } from './call-state.ts';
import { awaitedUndos, waitsForPerson, withState, type Drive, type Run, type WallClock } from './run-state.ts';
import { isSeeking } from './way-back-steps.ts';

/** Beyond a call's own timeout: how long a silent holder is waited for after the wall clock has ended. Milliseconds. */
export const GRACE_MS = 30_000;
/** Beyond a call's own timeout: how long the answer to an undo is waited for. Milliseconds. */
export const UNDO_PATIENCE_MS = 300_000;
/** How long a way back waits for an outcome that the runtime is finding out. Milliseconds. */
export const SEEK_MS = 900_000;
/** First re-drive after this time without progress, then doubling. Milliseconds. */
export const DRIVE_MS = { calls: 5_000, model: 10_000, person: 60_000, longest: 60_000 } as const;

/** How long a person may keep a run paused or taken over: it ends, too. Milliseconds. */
export const MAX_HOLD_MS = 7 * 86_400_000;

/** Starts or stops the wall clock as the calls say. */
export function tickClock(run: Run, now: number): WallClock {
  const { clock, calls, phase, control } = run.state;
  if (phase.name === 'asking' || phase.name === 'compensating') return clock;
  if (control || waitsForPerson(calls) || standsStill(run)) {
    return clock.since === null ? clock : { leftMs: clock.leftMs - (now - clock.since), since: null };
  }
  return clock.since === null ? { ...clock, since: now } : clock;
}

/** When the run's time is over; null while it stands still or is ended. Epoch milliseconds. */
export function deadlineOf(run: Run): number | null {
  const { phase, clock, calls, control } = run.state;
  switch (phase.name) {
    case 'ended':
      return null;
    case 'closing':
      return Math.max(
        ...calls.filter(isOut).map((call) => {
          const from = call.state === 'asked' ? call.expiresAt : Math.max(call.movedAt, phase.since);
          return from + call.timeoutMs + GRACE_MS;
        }),
      );
    case 'asking':
      return phase.until;
    case 'compensating':
      return Math.min(
        ...awaitedUndos(run).map(undoDeadline),
        ...(phase.seekUntil !== null && isSeeking(run) ? [phase.seekUntil] : []),
      );
    default:
      if (clock.since !== null) return clock.since + clock.leftMs;
      return control ? control.since + MAX_HOLD_MS : null;
  }
}

/** Epoch milliseconds. */
export function undoDeadline(call: OutCall): number {
  const from = call.state === 'asked' ? call.expiresAt : call.movedAt;
  return from + call.timeoutMs + UNDO_PATIENCE_MS;
}

/** Nothing is out and something could begin: only the suspension of its tenant keeps it (S7), and no message tells the end of that. */
function standsStill(run: Run): boolean {
  const { phase, calls, control } = run.state;
  if (control || calls.some(isOut)) return false;
  switch (phase.name) {
    case 'awaiting_calls':
      return true;
    case 'open':
    case 'finishing':
      return calls.some((call) => call.state === 'held');
    case 'compensating':
      return !isSeeking(run);
    case 'awaiting_model':
    case 'asking':
    case 'closing':
    case 'ended':
      return false;
  }
}

function firstDriveMs(run: Run): number | null {
  const { phase, calls } = run.state;
  if (phase.name === 'ended') return null;
  if (phase.name === 'awaiting_model') return DRIVE_MS.model;
  if (!calls.some(isOut)) return standsStill(run) ? DRIVE_MS.calls : null;
  return waitsForPerson(calls) ? DRIVE_MS.person : DRIVE_MS.calls;
}

/** After progress the drive begins anew; after a drive its distance doubles. */
export function nextDrive(run: Run, now: number, afterTries: number): Drive | null {
  const first = firstDriveMs(run);
  if (first === null) return null;
  return { at: now + Math.min(Math.max(DRIVE_MS.longest, first), first * 2 ** afterTries), tries: afterTries };
}

/** Sets the timers after a transition that made progress. */
export const afterProgress = (run: Run, now: number): Run => {
  const ticked = run.state.phase.name === 'ended' ? run : withState(run, { clock: tickClock(run, now) });
  return withState(ticked, { drive: nextDrive(ticked, now, 0) });
};

/** The next instant at which the run must be looked at without any message; null = never. Epoch milliseconds. */
export function wakeAt(run: Run): number | null {
  const times = [deadlineOf(run), run.state.drive?.at ?? null].filter((time) => time !== null);
  return times.length === 0 ? null : Math.min(...times);
}
