import { TOPICS, type Message, type MessageType } from '#contracts';
import { emptyCall, emptyRun } from './empty-rows.ts';
import {
  amendRank,
  COMPENSATION_RANK,
  EPISODE_RANK,
  mergeCalls,
  mergeRuns,
  RANK,
  type CallRow,
  type RunRow,
} from './view-rows.ts';

export const FOLDED_TYPES = [
  'RunStarted',
  'TurnRecorded',
  'RunEnded',
  'RunResumed',
  'CompensationAsked',
  'CompensationStarted',
  'CompensationEnded',
  'RunAmended',
  'RunControlled',
  'CallProposed',
  'CallAllowed',
  'ApprovalRequested',
  'CallSettled',
  'CallCancellation',
  'CallReconciled',
] as const satisfies readonly MessageType[];
export type FoldedType = (typeof FOLDED_TYPES)[number];

export interface Fact {
  readonly message: Message<FoldedType>;
  /** Where it was read: a settlement counts only on a topic of the one who may settle. */
  readonly topic: string;
}

export interface Folded {
  readonly runs: readonly RunRow[];
  readonly calls: readonly CallRow[];
}

/** Facts → one row for each run and call, sorted, so that two replicas lock rows in the same order. */
export function foldFacts(facts: readonly Fact[]): Folded {
  const runs = new Map<string, RunRow>();
  const calls = new Map<string, CallRow>();
  for (const fact of facts) {
    const run = runRowOf(fact.message);
    if (run) put(runs, `${run.tenant}/${run.runId}`, run, mergeRuns);
    for (const call of [...callRowsOf(fact), ...undoneRows(fact)])
      put(calls, `${call.tenant}/${call.callId}`, call, mergeCalls);
  }
  return { runs: sorted(runs), calls: sorted(calls) };
}

function put<R>(rows: Map<string, R>, key: string, row: R, merge: (a: R, b: R) => R): void {
  const known = rows.get(key);
  rows.set(key, known ? merge(known, row) : row);
}

const sorted = <R>(rows: Map<string, R>): R[] =>
  [...rows.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);

/** PostgreSQL's text holds no NUL; texts of models and clients may. */
const storable = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text);
const storableOrNull = (text: string | null | undefined): string | null => (text == null ? null : storable(text));

function runRowOf(message: Message<FoldedType>): RunRow | null {
  switch (message.type) {
    case 'RunStarted': {
      const { driver, agentName, principal, requestDigest, taskId, labels } = message.data;
      return {
        ...emptyRun(message),
        driver,
        agent: storableOrNull(agentName),
        principal: principal.id,
        requestDigest,
        taskId: storableOrNull(taskId),
        labels: JSON.stringify(labels),
        startedAt: message.occurredAt,
      };
    }
    case 'TurnRecorded': {
      const { turn, answer, stage } = message.data;
      const place = stage ? { stageNo: stage.no, stage: stage.name } : {};
      return { ...emptyRun(message), turns: turn, answer: storableOrNull(answer), ...place };
    }
    case 'RunEnded': {
      const { status, outcome, cause, episode, turns, answer, usage } = message.data;
      return {
        ...emptyRun(message),
        episodeRank: EPISODE_RANK.ended(episode),
        status,
        outcome,
        cause: cause && JSON.stringify(cause),
        turns,
        answer: storableOrNull(answer),
        endedAt: message.occurredAt,
        usage: usage ? JSON.stringify(usage) : null,
      };
    }
    case 'RunResumed':
      return { ...emptyRun(message), episodeRank: EPISODE_RANK.resumed(message.data.episode) };
    case 'CompensationAsked':
      return { ...emptyRun(message), compensationRank: COMPENSATION_RANK.asked, compensation: 'asked' };
    case 'CompensationStarted': {
      const { round, episode } = message.data;
      const begun = { compensationRank: COMPENSATION_RANK.started(round), compensation: 'running' };
      return { ...emptyRun(message), ...begun, episodeRank: EPISODE_RANK.resumed(episode) };
    }
    case 'CompensationEnded': {
      const { round, episode: _episode, status, ...report } = message.data;
      return {
        ...emptyRun(message),
        compensationRank: COMPENSATION_RANK.ended(round),
        compensation: status,
        compensationReport: JSON.stringify(report),
      };
    }
    case 'RunAmended': {
      const { episode, amendment, outcome, compensation } = message.data;
      const amended = { ...emptyRun(message), amendRank: amendRank(episode, amendment), amendedOutcome: outcome };
      if (!compensation) return amended;
      const { round, status, ...report } = compensation;
      return {
        ...amended,
        compensationRank: COMPENSATION_RANK.amended(round, amendment),
        compensation: status,
        compensationReport: JSON.stringify(report),
      };
    }
    case 'RunControlled': {
      const { no, control, episode } = message.data;
      const held = control === 'handed_back' ? null : control;
      return { ...emptyRun(message), controlRank: no, control: held, controlEpisode: episode };
    }
    default:
      return null;
  }
}

function callRowsOf(fact: Fact): CallRow[] {
  const row = callRowOf(fact);
  return row ? [row] : [];
}

function callRowOf({ message, topic }: Fact): CallRow | null {
  switch (message.type) {
    case 'CallProposed': {
      const { tool, contractDigest, providerCallId, principal, undoes } = message.data;
      const known = {
        tool,
        contractDigest,
        providerCallId: storableOrNull(providerCallId),
        principal: principal.id,
        undoes: undoes?.callId ?? null,
      };
      return { ...emptyCall(message, RANK.proposed, 'proposed'), ...known };
    }
    case 'ApprovalRequested': {
      const { decisionNo, approvalId, tool, contractDigest, requester } = message.data;
      const known = { tool, contractDigest, principal: requester.id, approvalRank: decisionNo, approvalId };
      return { ...emptyCall(message, RANK.asked(decisionNo), 'asked'), ...known };
    }
    case 'CallAllowed': {
      const { decisionNo, approvalId, tool, contractDigest } = message.data;
      const approval = approvalId === null ? {} : { approvalRank: decisionNo, approvalId };
      return { ...emptyCall(message, RANK.granted(decisionNo), 'granted'), tool, contractDigest, ...approval };
    }
    case 'CallSettled':
      return mayCarry(topic, message.data.settledBy) ? settledRow(message) : null;
    case 'CallCancellation':
      return topic.startsWith('call.settled.')
        ? { ...emptyCall(message, RANK.proposed, 'proposed'), cancellation: JSON.stringify(message.data) }
        : null;
    case 'CallReconciled':
      return mayCarry(topic, 'executor') ? reconciledRow(message) : null;
    default:
      return null;
  }
}

/** What facts about undos say of the calls that they take back. */
function undoneRows({ message, topic }: Fact): CallRow[] {
  const undone = (callId: string, done: boolean): CallRow => ({
    ...emptyCall(
      message,
      done ? RANK.compensated : RANK.compensationFailed,
      done ? 'compensated' : 'compensation_failed',
    ),
    callId,
  });
  if (message.type === 'CompensationEnded') return message.data.undone.map((callId) => undone(callId, true));
  if (message.type === 'CallReconciled') {
    const { status, undoes } = message.data;
    const decided = status === 'succeeded' || status === 'failed';
    return undoes !== undefined && decided && mayCarry(topic, 'executor')
      ? [undone(undoes, status === 'succeeded')]
      : [];
  }
  if (message.type !== 'CallSettled' || message.data.undoes === undefined) return [];
  const { settledBy, status, undoes } = message.data;
  return mayCarry(topic, settledBy) ? [undone(undoes, status === 'succeeded')] : [];
}

/** Takes the place of what the settlement said; who settled it, and when, stays. */
function reconciledRow(message: Message<'CallReconciled'>): CallRow {
  const { data } = message;
  const { reconciledBy: by, status, effect, amendment, principal, proposed, commandId } = data;
  const known = { by, amendment, person: principal?.id ?? null, commandId, proposed, at: message.occurredAt };
  return {
    ...emptyCall(message, RANK.reconciled(amendment), status),
    tool: storable(data.tool),
    contractDigest: data.contractDigest,
    outcomeRank: 1 + amendment,
    undoes: data.undoes ?? null,
    effect,
    errorCode: data.error?.code ?? data.result?.fault?.code ?? null,
    error: data.error && JSON.stringify(data.error),
    result: resultText(data.result),
    resourceIds: (data.result?.evidence.resourceIds ?? []).map(storable),
    reconciliation: JSON.stringify({ ...known, evidence: storable(data.evidence) }),
  };
}

const resultText = (result: Message<'CallSettled'>['data']['result']): string | null =>
  result &&
  JSON.stringify({
    sanitized: result.sanitized,
    evidence: result.evidence,
    truncated: result.truncated,
    fault: result.fault,
  });

function settledRow(message: Message<'CallSettled'>): CallRow {
  const { data } = message;
  const { result } = data;
  return {
    ...emptyCall(message, RANK.settled, data.status),
    principal: data.principal?.id ?? null,
    providerCallId: storableOrNull(data.providerCallId),
    tool: storable(data.tool),
    contractDigest: data.contractDigest,
    approvalRank: data.approvalId === null ? 0 : (data.decisionNo ?? 1),
    approvalId: data.approvalId,
    settledBy: data.settledBy,
    outcomeRank: 1,
    undoes: data.undoes ?? null,
    effect: data.effect,
    replayed: data.replayed,
    attempts: data.attempts,
    durationMs: data.durationMs,
    errorCode: data.error?.code ?? result?.fault?.code ?? null,
    error: data.error && JSON.stringify(data.error),
    result: resultText(result),
    resourceIds: (result?.evidence.resourceIds ?? []).map(storable),
    cancellation: data.cancellation ? JSON.stringify(data.cancellation) : null,
    settledAt: message.occurredAt,
  };
}

/** The right to settle moves with the call, and each holder has topics of its own. */
function mayCarry(topic: string, settledBy: 'orchestrator' | 'policy' | 'executor'): boolean {
  switch (settledBy) {
    case 'orchestrator':
      return topic === TOPICS.callRejected;
    case 'policy':
      return topic === TOPICS.callDecided;
    case 'executor':
      return topic.startsWith('call.settled.');
  }
}
