import type { CompensationEnded, RemainderReason } from '#contracts';
import { isOut, isSettled, type Call, type SettledCall } from './call-state.ts';
import { roundsOf, type Run } from './run-state.ts';
import type { WayBack } from './way-back.ts';

/** One call of the way back. */
export interface BackStep {
  readonly callId: string;
  /** `sought`: it is not known whether it happened, and the way back waits for what the runtime finds out. */
  readonly state: WayBack['state'] | 'sought';
  readonly reason: RemainderReason | null;
  readonly undoCallId: string | null;
  readonly resources: readonly string[];
  /** Ids that the call made or changed. */
  readonly made: readonly string[];
  readonly after: readonly string[];
  /** Not known whether it happened at all. */
  readonly unknown: boolean;
  /** The runtime itself is finding it out. */
  readonly looking: boolean;
}

/** Calls that can be taken back, the last first, until a call after which there is no way back. */
export function backSteps(run: Run): BackStep[] {
  const { calls } = run.state;
  const seeks = seeksCalls(run);
  const steps: BackStep[] = [];
  for (const call of calls.toReversed()) {
    if (isSettled(call) && call.pivot) break;
    const step = stepOf(call, seeks);
    if (step) steps.push(step);
  }
  return steps;
}

/** A round for calls that a person has named waits for those alone. */
const seeksCalls = (run: Run): boolean =>
  run.state.phase.name === 'compensating' &&
  run.state.phase.seekUntil !== null &&
  roundsOf(run).at(-1)?.leftovers.length === 0;

function stepOf(call: Call, seeks: boolean): BackStep | null {
  const { callId } = call;
  // The run had to go on while its pool was silent.
  if (isOut(call))
    return call.undo === undefined || 'pivot' in call.undo
      ? null
      : { ...unknownStep, callId, resources: call.proposal.resources };
  if (!isSettled(call) || call.wayBack === undefined) return null;
  const { state, reason, undoCallId, resources, after } = call.wayBack;
  const looking = call.looking === true;
  const unknown = call.status !== 'succeeded' && state !== 'undone' && state !== 'skipped';
  return {
    callId,
    state: unknown ? (looking && seeks ? 'sought' : 'left') : state,
    reason: unknown
      ? call.status === 'partially_applied'
        ? 'partially_applied'
        : 'outcome_unknown'
      : (reason ?? null),
    undoCallId: undoCallId ?? null,
    resources,
    made: call.resourceIds,
    after,
    unknown,
    looking,
  };
}

const unknownStep = {
  state: 'left',
  reason: 'outcome_unknown',
  undoCallId: null,
  made: [],
  after: [],
  unknown: true,
  looking: false,
} as const;

/** Undos whose own outcome is unknown, and which the way back waits for. */
export const soughtUndos = ({ state: { calls } }: Run): SettledCall[] =>
  calls.filter(isSettled).filter(({ callId, undoes }) => {
    const undone = undoes === undefined ? undefined : calls.find((call) => call.callId === undoes);
    return undone?.state === 'settled' && undone.wayBack?.state === 'out' && undone.wayBack.undoCallId === callId;
  });

/** Does the way back wait for what is being found out? */
export const isSeeking = (run: Run): boolean =>
  soughtUndos(run).length > 0 || backSteps(run).some(({ state }) => state === 'sought');

export const isCleared = ({ state }: BackStep): boolean => state === 'undone' || state === 'skipped';

/**
 * Must `later` be taken back before `earlier`? When it touches the same thing, was given an id that the earlier call made,
 * or does not say what it touches.
 */
export const liesUpon = (later: BackStep, earlier: BackStep): boolean =>
  later.after.includes(earlier.callId) ||
  later.resources.length === 0 ||
  earlier.resources.length === 0 ||
  later.resources.some((resource) => earlier.resources.includes(resource)) ||
  later.made.some((id) => earlier.made.includes(id));

/** What is to be told at the end of a round. */
export function reckoning(run: Run): Pick<CompensationEnded, 'status' | 'undone' | 'skipped' | 'remainder' | 'kept'> {
  const steps = backSteps(run);
  const ids = (state: BackStep['state']) => steps.filter((step) => step.state === state).map((step) => step.callId);
  const remainder = steps
    .filter((step) => step.state === 'left')
    .map(({ callId, reason, undoCallId }) => ({ callId, reason: reason ?? 'undo_failed', undoCallId }));
  const cleared = new Set(steps.filter((step) => step.state !== 'kept').map((step) => step.callId));
  const kept = run.state.calls
    .filter((call) => isSettled(call) && call.effectClass === 'call' && call.effect === 'applied' && !call.replayed)
    .map((call) => call.callId)
    .filter((callId) => !cleared.has(callId));
  return {
    status: remainder.length === 0 ? 'done' : 'partial',
    undone: ids('undone'),
    skipped: ids('skipped'),
    remainder,
    kept,
  };
}
