import { compensationAsked, compensationEnded, compensationStarted, callProposed, callRejected } from './emissions.ts';
import { closeRun, stoppedClock } from './close-run.ts';
import { hasLostWrite } from './outcome.ts';
import { isSettled, type Call, type SettledCall } from './call-state.ts';
import {
  awaitedUndos,
  budgetsOf,
  episodeOf,
  roundsOf,
  withCall,
  withState,
  type End,
  type Order,
  type Run,
} from './run-state.ts';
import type { Advanced, Emission, Env, Input, Step } from './saga.types.ts';
import { SEEK_MS, undoDeadline } from './timers.ts';
import { UNDO_BATCH, undoCall } from './undo-proposal.ts';
import { backSteps, isCleared, liesUpon, reckoning, soughtUndos, type BackStep } from './way-back-steps.ts';
import { withResult, type WayBack } from './way-back.ts';

/**
 * The way back of a run (G5, G7, G9).
 *
 * | phase                | by                                          | to                                       |
 * |----------------------|---------------------------------------------|------------------------------------------|
 * | (about to end badly) | onFailure compensate                        | compensating, round 1                    |
 * | (about to end badly) | onFailure ask                               | asking                                   |
 * | asking               | CompensateRun compensate                    | compensating, round 1                    |
 * | asking               | CompensateRun keep · CancelRun · its time   | ended                                    |
 * | ended                | CompensateRun compensate                    | compensating, next round, next episode   |
 * | compensating         | CancelRun                                   | compensating, stopped                    |
 * | open, to be closed   | CompensateRun compensate                    | closing as cancelled, then compensating  |
 * | compensating         | an outcome is not found out in time         | compensating, it is left                 |
 * | compensating         | nothing waits, is out or sought             | ended, compensation done or partial      |
 *
 * C1 only succeeded calls that acted are taken back: never a replay, never one whose outcome is unknown.
 * C2 each undo is a governed call of class `undo` with its own callId; one call has at most one undo out, and all undos of
 *    one call share one operation key: it is taken back at most once.
 * C3 a call is taken back only after everything that lies upon it; what lies upon nothing open goes side by side, up to
 *    maxParallel. What lies under an effect that stays is left.
 * C4 a call before a point of no return is never taken back.
 * C5 a round ends: each undo is answered, or given up after its time; a cancel begins nothing more.
 * C6 what is not taken back is told, each with its reason; only a person's retry, skip or done changes it.
 * C7 the undos are calls of the run: the end that follows counts and digests them.
 * C8 unknown outcomes come first: a round waits, for a time, for those which the runtime itself is finding out, of calls
 *    and of undos, and for whatever lies under them; one that only a person can find out is left at once.
 * C9 what a person says is done is closed in the journal, too: the same key acts again (taken-back-by-hand.ts).
 */

/** null: the run ends at once. */
export function compensateAtEnd(run: Run, input: Input, end: End, now: number): Advanced | null {
  const { onFailure = 'keep' } = run.definition;
  const { phase } = run.state;
  if (phase.name === 'closing' && phase.back) return startBack(run, input, end, now, phase.back);
  if (onFailure === 'keep' || run.state.compensation !== undefined) return null;
  if (end.status === 'completed' && !hasLostWrite(run.state.calls)) return null;
  const steps = backSteps(run);
  if (!steps.some((step) => step.state === 'kept' || step.looking)) return null;
  if (onFailure === 'compensate') return startBack(run, input, end, now, { commandId: null, by: null, leftovers: [] });
  const until = now + budgetsOf(run).approvalTtlMs;
  const asking = withState(run, {
    phase: { name: 'asking', end, until },
    clock: stoppedClock(run, now),
    compensation: { status: 'asked', rounds: [] },
  });
  const callIds = steps.map((step) => step.callId);
  return { run: asking, out: [compensationAsked(asking, input, { callIds, until }, now)] };
}

/** Begins a round. What is named by nobody stays as it was left. */
export function startBack(run: Run, input: Input, end: End, now: number, order: Order): Advanced {
  const said = new Map(order.leftovers.map((one) => [one.callId, one]));
  const steps = new Map(backSteps(run).map((step) => [step.callId, step]));
  const calls = run.state.calls.map((call): Call => {
    if (!isSettled(call) || call.wayBack === undefined || !steps.has(call.callId)) return call;
    const how = said.size === 0 ? (steps.get(call.callId)!.unknown ? undefined : 'retry') : said.get(call.callId)?.how;
    const { state } = call.wayBack;
    if (how === undefined || (state !== 'kept' && state !== 'left')) return call;
    return { ...call, wayBack: { ...call.wayBack, state: SAID[how], reason: undefined } };
  });
  const reopened = run.state.phase.name === 'ended';
  const callIds = [...steps.keys()].filter((callId) => stateIn(calls, callId) === 'waiting');
  const round = { ...order, callIds, episode: episodeOf(run) + (reopened ? 1 : 0), reopened, at: now };
  const rounds = [...roundsOf(run), round];
  const begun = withState(run, {
    calls,
    phase: { name: 'compensating', end, since: now, stopped: false, seekUntil: now + SEEK_MS },
    clock: stoppedClock(run, now),
    compensation: { status: 'running', rounds },
  });
  return { run: begun, out: [compensationStarted(begun, input, rounds.length - 1)] };
}

const SAID = { retry: 'waiting', skip: 'skipped', done: 'undone' } as const;
const stateIn = (calls: readonly Call[], callId: string): WayBack['state'] | undefined => {
  const call = calls.find((one) => one.callId === callId);
  return call && isSettled(call) ? call.wayBack?.state : undefined;
};

/** What follows on the way back: undos whose turn has come go out; when nothing waits and nothing is out, the run ends. */
export function goBack(run: Run, input: Input, env: Env): Advanced {
  const { phase } = run.state;
  if (phase.name !== 'compensating') return { run, out: [] };
  const out: Emission[] = [];
  let now = run;
  let room = budgetsOf(run).maxParallel - awaitedUndos(run).length;
  for (const { callId } of backSteps(run)) {
    const steps = backSteps(now);
    const at = steps.findIndex((step) => step.callId === callId);
    const step = steps[at]!;
    if (step.state !== 'waiting') continue;
    const upon = steps.slice(0, at).filter((later) => liesUpon(later, step) && !isCleared(later));
    if (phase.stopped) now = leave(now, callId, 'cancelled');
    else if (upon.some(isOpen)) continue;
    else if (upon.length > 0) now = leave(now, callId, 'blocked');
    else if (room > 0) {
      const sent = send(now, callId, input, env);
      out.push(...sent.out);
      now = sent.run;
      if (stateIn(now.state.calls, callId) === 'out') room--;
    }
  }
  if (backSteps(now).some(isOpen)) return { run: now, out };
  const told = reckoning(now);
  const { rounds } = now.state.compensation!;
  const settled = withState(now, { compensation: { status: told.status, rounds } });
  const closed = closeRun(settled, input, phase.end, env.now);
  return { run: closed.run, out: [...out, compensationEnded(settled, input, told, env.now), ...closed.out] };
}

const isOpen = ({ state }: BackStep): boolean => state === 'waiting' || state === 'out' || state === 'sought';

function send(run: Run, callId: string, input: Input, env: Env): Advanced {
  const undone = run.state.calls.find((call) => call.callId === callId) as SettledCall;
  const way = undone.wayBack!;
  const made = undoCall(run, undone, way, env);
  const undoCallId = made.ok ? made.call.callId : made.callId;
  const tried = { ...way, undoCallId, tries: way.tries + 1 };
  if (made.ok) {
    const sent = withCall(run, { ...undone, wayBack: { ...tried, state: 'out' } });
    return {
      run: withState(sent, { calls: [...sent.state.calls, made.call] }),
      out: [callProposed(run, input, made.call)],
    };
  }
  const { error } = made;
  const rejected: SettledCall = {
    callId: undoCallId,
    tool: way.tool,
    batch: UNDO_BATCH,
    effectClass: 'undo',
    undoes: callId,
    state: 'settled',
    status: 'rejected',
    effect: 'none',
    errorCode: error.code,
    replayed: false,
    approvalId: null,
    resourceIds: [],
  };
  const left = withCall(run, { ...undone, wayBack: { ...tried, state: 'left', reason: 'undo_failed' } });
  const refusal = {
    callId: undoCallId,
    tool: way.tool,
    contractDigest: way.digest,
    argumentsDigest: null,
    principal: run.definition.principal,
    error,
    undoes: callId,
  };
  return {
    run: withState(left, { calls: [...left.state.calls, rejected] }),
    out: [callRejected(run, input, refusal, env.now)],
  };
}

function leave(run: Run, callId: string, reason: NonNullable<WayBack['reason']>): Run {
  const call = run.state.calls.find((one) => one.callId === callId) as SettledCall;
  return withCall(run, { ...call, wayBack: { ...call.wayBack!, state: 'left', reason } });
}

/** An undo has settled: what it says of the call that it takes back. A success counts whenever it comes. */
export function foldUndo(run: Run, undo: SettledCall, now: number): Run {
  if (undo.undoes === undefined) return run;
  const undone = run.state.calls.find((call) => call.callId === undo.undoes);
  if (!undone || !isSettled(undone) || undone.wayBack === undefined) return run;
  const { wayBack } = undone;
  if (undo.status === 'succeeded')
    return withCall(run, { ...undone, wayBack: { ...wayBack, state: 'undone', reason: undefined } });
  const isLast = wayBack.undoCallId === undo.callId && (wayBack.state === 'out' || wayBack.state === 'left');
  if (!isLast) return run;
  const { phase } = run.state;
  if (undo.looking && wayBack.state === 'out' && phase.name === 'compensating' && !phase.stopped)
    return withState(run, { phase: { ...phase, seekUntil: now + SEEK_MS } });
  return leave(run, undone.callId, UNCLEAR.has(undo.status) ? 'undo_unknown' : 'undo_failed');
}

const UNCLEAR: ReadonlySet<string> = new Set(['outcome_unknown', 'needs_human', 'partially_applied']);

/**
 * An unknown outcome became known. A call that happened can be taken back from now on, in this round if one goes on; one
 * that did not happen has nothing to take back. @param sanitized its result, as far as it is known
 */
export function foldReconciled(run: Run, call: SettledCall, sanitized: unknown, now: number): Run {
  if (call.undoes !== undefined) return foldUndo(run, call, now);
  const { wayBack } = call;
  if (call.status === 'failed') return withCall(run, { ...call, wayBack: undefined, pivot: undefined });
  if (wayBack === undefined || call.status !== 'succeeded' || wayBack.state !== 'kept') return run;
  const known = withResult(wayBack, sanitized);
  const { phase } = run.state;
  const named = (roundsOf(run).at(-1)?.leftovers.length ?? 0) > 0;
  if (phase.name === 'compensating' && !phase.stopped && !named)
    return withCall(run, { ...call, wayBack: { ...known, state: 'waiting' } });
  return withCall(run, {
    ...call,
    wayBack: roundsOf(run).length === 0 ? known : { ...known, state: 'left', reason: 'known_later' },
  });
}

/** C5, C8: undos that nobody answered for in their time, and outcomes that were not found out in theirs. */
export function giveUpUndos(run: Run, now: number): Run {
  const silent = awaitedUndos(run).filter((call) => undoDeadline(call) <= now);
  const rest = silent.reduce((left, call) => leave(left, call.undoes!, 'undo_unanswered'), run);
  const { phase } = run.state;
  return phase.name === 'compensating' && (phase.seekUntil ?? Infinity) <= now ? seekNoMore(rest) : rest;
}

/** What is unknown now is left to a person. */
export function seekNoMore(run: Run): Run {
  const { phase } = run.state;
  if (phase.name !== 'compensating') return run;
  const unclear = soughtUndos(run).reduce((left, call) => leave(left, call.undoes!, 'undo_unknown'), run);
  return withState(unclear, { phase: { ...phase, seekUntil: null } });
}

/** A person, a cancel or the end of the time says: what was done stays. */
export function keepEffects(run: Run, input: Input, env: Env, keptBy: string | undefined): Step {
  const { phase, compensation } = run.state;
  if (phase.name !== 'asking') return { run, out: [] };
  const { rounds } = compensation!;
  const kept = withState(run, {
    compensation: { status: 'kept', rounds, ...(keptBy === undefined ? {} : { keptBy }) },
  });
  return closeRun(kept, input, phase.end, env.now);
}
