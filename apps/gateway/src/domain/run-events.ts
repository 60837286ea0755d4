import type { ApprovalReplaced, CallProgress, RunProgress } from './run-progress.ts';
import { encodeTold, shortApproval, shortCall, type Told } from './stream-cursor.ts';

/**
 * The events that a watcher has not been told yet: the difference between what is known and what was told.
 *
 * E1 what is told of one call comes in the order of its steps, each at most once, and ends with call.settled, or with what was found out of an unknown outcome; steps that
 *    were overtaken are told when they follow from what is known, and left out when they do not;
 * E2 nothing is told before run.started, and run.ended only after every call that belongs to it (or when `force` says
 *    that it has been waited for long enough);
 * E3 each id covers everything that was told up to and with its event.
 */
export interface RunEvent {
  readonly id: string;
  readonly type: RunEventType;
  readonly data: Readonly<Record<string, unknown>>;
}
export const RUN_EVENT_TYPES = [
  'run.started',
  'run.resumed',
  'run.controlled',
  'turn.recorded',
  'call.proposed',
  'call.decided',
  'approval.requested',
  'approval.decided',
  'approval.superseded',
  'call.settled',
  'call.reconciled',
  'compensation.asked',
  'compensation.started',
  'compensation.ended',
  'run.ended',
] as const;
export type RunEventType = (typeof RUN_EVENT_TYPES)[number];

/** Advances `told` by what it answers. */
export function tellNext(runId: string, told: Told, known: RunProgress, force = false): RunEvent[] {
  const events: RunEvent[] = [];
  const tell = (type: RunEventType, data: Readonly<Record<string, unknown>>): void => {
    events.push({ id: encodeTold(runId, told), type, data: { runId, ...data } });
  };
  if (known.started === null) return events;
  if (told.phase < 1) {
    told.phase = 1;
    tell('run.started', { ...known.started });
  }
  const begun = known.phase % 2 === 1 ? known.phase : known.phase - 1;
  if (begun > told.phase) {
    told.phase = begun;
    tell('run.resumed', { episode: (begun + 1) / 2 });
  }
  while (told.turns < known.turns) {
    told.turns++;
    const stage = known.stage && told.turns === known.turns ? { stage: known.stage.name } : {};
    tell('turn.recorded', { turn: told.turns, ...stage });
  }
  if (known.controls > told.controls) {
    told.controls = known.controls;
    tell('run.controlled', { control: known.control });
  }
  for (const [callId, call] of known.calls) tellCall(callId, call, told, tell);
  tellBack(known.back, told, tell);
  if (known.ended && known.phase % 2 === 0 && known.phase > told.phase && (force || isComplete(known))) {
    told.phase = known.phase;
    tell('run.ended', { ...known.ended });
  }
  return events;
}

/** Is there an end that waits for calls? */
export const endIsHeld = (told: Told, known: RunProgress): boolean =>
  known.ended !== null && known.phase % 2 === 0 && known.phase > told.phase;

/** Has the last thing been told, for now? */
export const isOver = (told: Told, known: RunProgress): boolean =>
  told.phase > 0 && told.phase % 2 === 0 && known.phase <= told.phase;

function isComplete({ calls, callCount }: RunProgress): boolean {
  let settled = 0;
  for (const call of calls.values()) {
    if (call.settled === null) return false;
    settled++;
  }
  return settled >= (callCount ?? 0);
}

/** Steps of a call and of an approval, in order. */
const CALL = { proposed: 0, decided: 1, settled: 2 } as const;
/** A step is one character of a cursor: later amendments than these are told once more at the most. */
const amended = (amendment: number): number => CALL.settled + Math.min(amendment, 33);
const APPROVAL = { asked: 1, requested: 2, decided: 3 } as const;

type Tell = (type: RunEventType, data: Readonly<Record<string, unknown>>) => void;

function tellCall(callId: string, call: CallProgress, told: Told, tell: Tell): void {
  const { tool, approvals, settled, reconciled } = call;
  const last = reconciled ? amended(reconciled.amendment) : CALL.settled;
  if (tool === null || (told.calls.get(shortCall(callId)) ?? -1) >= last) return;
  const step =
    (rows: Map<string, number>, name: string, extra: object) =>
    (rank: number, type: RunEventType, data: object): void => {
      if (rank <= (rows.get(name) ?? -1)) return;
      rows.set(name, rank);
      tell(type, { callId, ...extra, ...data });
    };
  const ofCall = step(told.calls, shortCall(callId), {});
  ofCall(CALL.proposed, 'call.proposed', { tool });
  for (const [approvalId, approved] of approvals) {
    const ofApproval = step(told.approvals, shortApproval(approvalId), { approvalId });
    ofApproval(APPROVAL.asked, 'call.decided', { decision: 'ask' });
    ofApproval(APPROVAL.requested, 'approval.requested', { tool });
    const decision = approved ? 'approved' : answerOf(call, approvalId);
    const replaced = supersededBy(call, approvalId);
    if (replaced) ofApproval(APPROVAL.decided, 'approval.superseded', { ...replaced });
    else if (decision) ofApproval(APPROVAL.decided, 'approval.decided', { decision });
  }
  const decision = call.allowed ? 'allow' : approvals.size === 0 ? decisionBy(settled?.settledBy) : null;
  if (decision) ofCall(CALL.decided, 'call.decided', { approvalId: null, decision });
  if (!settled) return;
  const { settledBy: _by, ...end } = settled;
  ofCall(CALL.settled, 'call.settled', { tool, ...end });
  if (!reconciled) return;
  const { amendment, ...known } = reconciled;
  ofCall(amended(amendment), 'call.reconciled', { tool, ...known });
}

/** A name that no call has: the alphabet of ids lacks its letter. */
const BACK = 'oooooooo';
/** What a step of a stream's id can hold. */
const MAX_STEP = 35;

/** Of rounds that were overtaken only what follows: each began, and ended before the next one. */
function tellBack({ rank, status }: RunProgress['back'], told: Told, tell: Tell): void {
  for (let step = (told.calls.get(BACK) ?? 0) + 1; step <= Math.min(rank, MAX_STEP); step++) {
    if (step === 1 && rank > 1) continue;
    told.calls.set(BACK, step);
    const round = Math.floor(step / 2);
    if (step === 1) tell('compensation.asked', {});
    else if (step % 2 === 0) tell('compensation.started', { round });
    else tell('compensation.ended', { round, status: step === rank ? status : 'partial' });
  }
}

const decisionBy = (settledBy: string | null | undefined): 'allow' | 'deny' | null =>
  settledBy === 'executor' ? 'allow' : settledBy === 'policy' ? 'deny' : null;

/** By the fact, or by the settlement of a call that was edited. */
function supersededBy({ superseded, settled }: CallProgress, approvalId: string): ApprovalReplaced | undefined {
  const edited = settled?.approvalId === approvalId && settled.replacedBy !== null;
  return superseded.get(approvalId) ?? (edited ? { why: 'edited', replacedBy: null } : undefined);
}

/** What became of an approval that was not given, as far as it follows from the call. */
function answerOf({ settled }: CallProgress, approvalId: string): string | null {
  if (settled?.approvalId !== approvalId) return null;
  if (settled.errorCode === 'APPROVAL_DENIED') return 'rejected';
  if (settled.status === 'expired') return 'expired';
  return settled.status === 'cancelled' ? 'withdrawn' : null;
}
