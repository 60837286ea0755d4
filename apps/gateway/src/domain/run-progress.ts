import { TOPICS, type Message } from '#contracts';

/**
 * How far a run has come, for those who watch it: stored state and what the bus says of it, folded together.
 *
 * P1 folding is commutative and idempotent: what is known only grows, so the order of messages, their repeats and a read
 *    port that lags change nothing.
 * P2 whatever a watcher is told follows from here, and from nothing else: live or replayed, it is the same.
 * P3 no arguments, no results.
 */
export interface RunProgress {
  /** 2·episode − 1 = that episode has begun, 2·episode = it is over; 0 = nothing is known. */
  readonly phase: number;
  readonly started: RunFacts | null;
  readonly turns: number;
  /** What people ordered last, and how many orders that makes. */
  readonly controls: number;
  readonly control: string | null;
  /** The furthest that a turn was asked for in. */
  readonly stage: { readonly no: number; readonly name: string } | null;
  readonly ended: RunEnd | null;
  /** Calls that the run had at its last end; null = not known. */
  readonly callCount: number | null;
  readonly back: BackProgress;
  readonly calls: ReadonlyMap<string, CallProgress>;
}

/** How far the way back has come: 1 = a person is asked, 2·round = that round has begun, 2·round + 1 = it is over. */
export interface BackProgress {
  readonly rank: number;
  /** Of the round that is over: done or partial. */
  readonly status: string | null;
}

export interface RunFacts {
  readonly driver: string | null;
  readonly agent: string | null;
  readonly taskId: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly startedAt: string;
}

export interface RunEnd {
  readonly episode: number;
  readonly status: string;
  readonly outcome: string | null;
  readonly cause: unknown;
  readonly answer: string | null;
  readonly turns: number;
  readonly endedAt: string | null;
}

export interface CallProgress {
  readonly tool: string | null;
  /** Policy let it pass without a person. */
  readonly allowed: boolean;
  /** approvalId → was it approved? A call that is judged again may be asked for again. */
  readonly approvals: ReadonlyMap<string, boolean>;
  /** approvalId → why no decision on it counts any more. */
  readonly superseded: ReadonlyMap<string, ApprovalReplaced>;
  readonly settled: CallEnd | null;
  /** What was found out of an unknown outcome, by the highest amendment. */
  readonly reconciled: CallAmendment | null;
}

export interface ApprovalReplaced {
  readonly why: string;
  /** The approval that is asked for instead. */
  readonly replacedBy: string | null;
}

export interface CallAmendment {
  readonly amendment: number;
  readonly status: string;
  readonly effect: string | null;
  readonly errorCode: string | null;
  readonly reconciledBy: string | null;
}

export interface CallEnd {
  readonly status: string;
  readonly settledBy: string | null;
  readonly approvalId: string | null;
  readonly providerCallId: string | null;
  readonly errorCode: string | null;
  readonly effect: string | null;
  readonly replayed: boolean;
  readonly attempts: number;
  readonly durationMs: number | null;
  /** The call that a person wrote in its place. */
  readonly replacedBy: string | null;
}

/** What is known at first: nothing. */
export const UNKNOWN: RunProgress = {
  phase: 0,
  started: null,
  turns: 0,
  controls: 0,
  control: null,
  stage: null,
  ended: null,
  callCount: null,
  back: { rank: 0, status: null },
  calls: new Map(),
};

export const WATCHED_OF_RUNS = [
  'RunStarted',
  'RunResumed',
  'CompensationAsked',
  'CompensationStarted',
  'CompensationEnded',
  'RunControlled',
  'TurnRecorded',
  'RunEnded',
  'CallAllowed',
  'ApprovalRequested',
  'ApprovalDecided',
  'ApprovalSuperseded',
  'CallSettled',
  'CallReconciled',
] as const;
export type RunMessage = Message<(typeof WATCHED_OF_RUNS)[number]>;

export function foldProgress(a: RunProgress, b: RunProgress): RunProgress {
  const calls = new Map(a.calls);
  for (const [callId, call] of b.calls) {
    const known = calls.get(callId);
    calls.set(callId, known ? foldCall(known, call) : call);
  }
  const ended = (b.ended?.episode ?? 0) > (a.ended?.episode ?? 0) ? b.ended : a.ended;
  const counted = (b.ended?.episode ?? 0) > (a.ended?.episode ?? 0) ? b.callCount : (a.callCount ?? b.callCount);
  return {
    phase: Math.max(a.phase, b.phase),
    started: a.started ?? b.started,
    turns: Math.max(a.turns, b.turns),
    controls: Math.max(a.controls, b.controls),
    control: (b.controls > a.controls ? b : a).control,
    stage: (b.stage?.no ?? 0) > (a.stage?.no ?? 0) ? b.stage : a.stage,
    ended,
    callCount: counted,
    back: b.back.rank > a.back.rank ? b.back : a.back,
    calls,
  };
}

function foldCall(a: CallProgress, b: CallProgress): CallProgress {
  const approvals = new Map(a.approvals);
  for (const [approvalId, approved] of b.approvals) {
    approvals.set(approvalId, approved || approvals.get(approvalId) === true);
  }
  return {
    tool: a.tool ?? b.tool,
    allowed: a.allowed || b.allowed,
    approvals,
    superseded: new Map([...b.superseded, ...a.superseded]),
    settled: a.settled ?? b.settled,
    reconciled: (b.reconciled?.amendment ?? 0) > (a.reconciled?.amendment ?? 0) ? b.reconciled : a.reconciled,
  };
}

const nothingOfCall: CallProgress = {
  tool: null,
  allowed: false,
  approvals: new Map(),
  superseded: new Map(),
  settled: null,
  reconciled: null,
};

/** What one message adds. @param topic where it came: a settlement counts only on a topic of the one who may settle */
export function progressOf(message: RunMessage, topic: string): RunProgress {
  const call = (progress: Partial<CallProgress>): RunProgress => ({
    ...UNKNOWN,
    calls: new Map([[message.callId!, { ...nothingOfCall, ...progress }]]),
  });
  switch (message.type) {
    case 'RunStarted': {
      const { driver, agentName, taskId, labels } = message.data;
      const started = { driver, agent: agentName ?? null, taskId: taskId ?? null, labels };
      return { ...UNKNOWN, phase: 1, started: { ...started, startedAt: message.occurredAt } };
    }
    case 'RunResumed':
      return { ...UNKNOWN, phase: message.data.episode * 2 - 1 };
    case 'CompensationAsked':
      return { ...UNKNOWN, back: { rank: 1, status: null } };
    case 'CompensationStarted': {
      const { round, episode } = message.data;
      return { ...UNKNOWN, phase: episode * 2 - 1, back: { rank: round * 2, status: null } };
    }
    case 'CompensationEnded': {
      const { round, status } = message.data;
      return { ...UNKNOWN, back: { rank: round * 2 + 1, status } };
    }
    case 'RunControlled':
      return { ...UNKNOWN, controls: message.data.no, control: message.data.control };
    case 'TurnRecorded':
      return { ...UNKNOWN, turns: message.data.turn, stage: message.data.stage ?? null };
    case 'RunEnded': {
      const { episode, status, outcome, cause, answer, turns, callCount } = message.data;
      const ended = { episode, status, outcome, cause, answer, turns, endedAt: message.occurredAt };
      return { ...UNKNOWN, phase: episode * 2, turns, ended, callCount };
    }
    case 'CallAllowed': {
      const { tool, approvalId } = message.data;
      return call(approvalId === null ? { tool, allowed: true } : { tool, approvals: new Map([[approvalId, true]]) });
    }
    case 'ApprovalRequested': {
      const { tool, approvalId } = message.data;
      return call({ tool, approvals: new Map([[approvalId, false]]) });
    }
    case 'ApprovalDecided': {
      const { approvalId, decision } = message.data;
      // A rejection is told by the settlement that comes with it: which of the two is first shall not matter.
      return call({ approvals: new Map([[approvalId, decision === 'approved']]) });
    }
    case 'ApprovalSuperseded': {
      const { approvalId, why, replacedBy } = message.data;
      return call({ superseded: new Map([[approvalId, { why, replacedBy }]]) });
    }
    case 'CallReconciled': {
      if (!mayCarry(topic, 'executor')) return UNKNOWN;
      const { tool, amendment, status, effect, error, result, reconciledBy } = message.data;
      const errorCode = error?.code ?? result?.fault?.code ?? null;
      return call({ tool, reconciled: { amendment, status, effect, errorCode, reconciledBy } });
    }
    case 'CallSettled': {
      if (!mayCarry(topic, message.data.settledBy)) return UNKNOWN;
      const { tool, approvalId, status, settledBy, providerCallId, error, result, ...data } = message.data;
      return call({
        tool,
        approvals: new Map(approvalId === null ? [] : [[approvalId, settledBy === 'executor']]),
        settled: {
          status,
          approvalId,
          settledBy,
          providerCallId: providerCallId ?? null,
          errorCode: error?.code ?? result?.fault?.code ?? null,
          effect: data.effect,
          replayed: data.replayed,
          attempts: data.attempts,
          durationMs: data.durationMs,
          replacedBy: error?.replacedBy ?? null,
        },
      });
    }
  }
}

function mayCarry(topic: string, settledBy: 'orchestrator' | 'policy' | 'executor'): boolean {
  if (settledBy === 'executor') return topic.startsWith('call.settled.');
  return topic === (settledBy === 'policy' ? TOPICS.callDecided : TOPICS.callRejected);
}
