import {
  callsDigest,
  grantedTopic,
  TOPICS,
  type CallError,
  type MessageData,
  type MessageType,
  type Principal,
  type TurnResult,
} from '#contracts';
import { derivedId, type ErrorCode, type ErrorDetail } from '#kernel';
import { fitResults } from './fit-results.ts';
import { handBackNote } from './hand-back-note.ts';
import { turnLimits } from './limits.ts';
import { newsNote } from './outcome-news.ts';
import { outcomeOf } from './outcome.ts';
import { isOut, isSettled, type OutCall, type ProposedCall } from './call-state.ts';
import { episodeOf, isCancelling, roundsOf, type Phase, type Resume, type Round, type Run } from './run-state.ts';
import type { CommandType, Emission, Input, InputOf } from './saga.types.ts';
import { parallelOf, shownIn, stageNo, stageOf } from './stages.ts';
import { usageOf } from './usage.ts';

/** What caused the messages; timers have no cause. */
type Cause = Pick<Input, 'causationId' | 'correlationId'>;

function emission<T extends MessageType>(
  run: Run,
  cause: Cause,
  spec: { topic: string; type: T; at: number; own: string | number; callId?: string; data: MessageData<T> },
): Emission<T> {
  const { runId, tenant, correlationId } = run.definition;
  const { topic, type, at, callId, data } = spec;
  return {
    topic,
    type,
    at,
    runId,
    tenant,
    id: derivedId('msg', type, callId ?? runId, spec.own),
    ...(callId === undefined ? {} : { callId }),
    causationId: cause.causationId,
    correlationId: cause.correlationId ?? correlationId,
    data,
  };
}

/** The table gives the run's number when the run is saved; see `Run.runNo`. */
export function runStarted(run: Run, cause: Cause): Emission<'RunStarted'> {
  const { driver, principal, requestDigest, agent, taskId, labels, startedAt } = run.definition;
  const data = {
    driver,
    principal,
    requestDigest,
    labels: { ...labels },
    callIds: driver === 'call' ? run.state.calls.map((call) => call.callId) : [],
    ...(agent === undefined ? {} : { agentName: agent.name }),
    ...(taskId === undefined ? {} : { taskId }),
    ...(run.runNo === null ? {} : { runNo: run.runNo }),
  };
  return emission(run, cause, { topic: TOPICS.runEvents, type: 'RunStarted', at: startedAt, own: 1, data });
}

export function turnRecorded(
  run: Run,
  input: InputOf<'TurnCompleted'>,
  callIds: string[],
  answer: string | null,
  now: number,
): Emission<'TurnRecorded'> {
  const { turn, usage } = input.data;
  const { inputTokens, outputTokens, costUsd = null } = usage;
  const stage = stageOf(run);
  const place = stage ? { stage: { no: stageNo(run), name: stage.name } } : {};
  const data = { turn, callIds, inputTokens, outputTokens, costUsd, answer, ...place };
  return emission(run, input, { topic: TOPICS.runEvents, type: 'TurnRecorded', at: now, own: turn, data });
}

/** Of a run in phase `ended`; said again it is the same. */
export function runEnded(run: Run, cause: Cause, ended: Phase & { name: 'ended' }): Emission<'RunEnded'> {
  const callIds = run.state.calls.map((call) => call.callId);
  const { status, answer } = ended.end;
  const data = {
    status,
    answer,
    cause: ended.end.cause && { ...ended.end.cause },
    outcome: ended.outcome,
    episode: episodeOf(run),
    callCount: callIds.length,
    callsDigest: callsDigest(callIds),
    turns: run.state.turns,
    ...(run.definition.driver === 'call' ? {} : { usage: usageOf(run) }),
  };
  return emission(run, cause, { topic: TOPICS.runEvents, type: 'RunEnded', at: ended.at, own: data.episode, data });
}

/** @param index of the round in the run's list; said again it is the same */
export function compensationStarted(run: Run, cause: Cause, index: number): Emission<'CompensationStarted'> {
  const { commandId, by, episode, at, ...round } = roundsOf(run)[index] as Round;
  const data = {
    round: index + 1,
    episode,
    commandId,
    by,
    callIds: [...round.callIds],
    leftovers: [...round.leftovers],
  };
  return emission(run, cause, { topic: TOPICS.runEvents, type: 'CompensationStarted', at, own: index + 1, data });
}

export function compensationAsked(
  run: Run,
  cause: Cause,
  { callIds, until }: { callIds: readonly string[]; until: number },
  now: number,
): Emission<'CompensationAsked'> {
  const data = { callIds: [...callIds], expiresAt: new Date(until).toISOString() };
  return emission(run, cause, { topic: TOPICS.runEvents, type: 'CompensationAsked', at: now, own: 1, data });
}

export function compensationEnded(
  run: Run,
  cause: Cause,
  told: Omit<MessageData<'CompensationEnded'>, 'round' | 'episode'>,
  now: number,
): Emission<'CompensationEnded'> {
  const round = roundsOf(run).length;
  const data = { round, episode: episodeOf(run), ...told };
  return emission(run, cause, { topic: TOPICS.runEvents, type: 'CompensationEnded', at: now, own: round, data });
}

/** @param index of the resume in the run's list */
export function runResumed(run: Run, cause: Cause, index: number): Emission<'RunResumed'> {
  const { commandId, budgets, at } = run.state.resumes[index] as Resume;
  const data = { commandId, episode: index + 2, budgets };
  return emission(run, cause, { topic: TOPICS.runEvents, type: 'RunResumed', at, own: data.episode, data });
}

/** The outcome as it is known now; the end stands as it was said. */
export function runAmended(
  run: Run,
  cause: Cause,
  now: number,
  compensation: MessageData<'RunAmended'>['compensation'],
): Emission<'RunAmended'> {
  const amendment = run.state.amendments ?? 0;
  const back = compensation === undefined ? {} : { compensation };
  const data = { episode: episodeOf(run), amendment, outcome: outcomeOf(run.state.calls), ...back };
  return emission(run, cause, { topic: TOPICS.runEvents, type: 'RunAmended', at: now, own: amendment, data });
}

/** What a person found out goes to the pool that holds the call's record; it alone decides. */
export function reconcileCall(
  run: Run,
  input: InputOf<'ResolveCall'>,
  pool: string,
  now: number,
): Emission<'ReconcileCall'> {
  const { callId, ...data } = input.data;
  const own = data.commandId;
  return emission(run, input, { topic: grantedTopic(pool), type: 'ReconcileCall', at: now, own, callId, data });
}

/** What a person took back by other means may be done anew: the pool that holds the call's record closes its operation. */
export function closeUndone(
  run: Run,
  cause: Cause,
  { pool, callId, ...data }: MessageData<'CloseUndone'> & { readonly pool: string; readonly callId: string },
  now: number,
): Emission<'CloseUndone'> {
  const own = data.commandId;
  return emission(run, cause, { topic: grantedTopic(pool), type: 'CloseUndone', at: now, own, callId, data });
}

/** @param index of the order in the run's list */
export function runControlled(run: Run, cause: Cause, index: number): Emission<'RunControlled'> {
  const { at, ...ordered } = run.state.controls![index]!;
  const data = { ...ordered, no: index + 1 };
  return emission(run, cause, { topic: TOPICS.runEvents, type: 'RunControlled', at, own: data.no, data });
}

export function callProposed(run: Run, cause: Cause, call: ProposedCall | OutCall): Emission<'CallProposed'> {
  const { callId, proposal: data } = call;
  return emission(run, cause, { topic: TOPICS.callProposed, type: 'CallProposed', at: call.at, own: 1, callId, data });
}

/** Said again with each drive while the call is out; policy acts on it once at most. */
export function withdrawCall(run: Run, cause: Cause, { callId }: OutCall, now: number): Emission<'WithdrawCall'> {
  const data = { principal: run.definition.principal.id };
  return emission(run, cause, { topic: TOPICS.callProposed, type: 'WithdrawCall', at: now, own: 1, callId, data });
}

/** Said again with each drive while the call is out; the pool acts on it once at most. */
export function cancelGranted(run: Run, cause: Cause, call: OutCall, now: number): Emission<'CancelGranted'> {
  const { phase } = run.state;
  const by = phase.name === 'closing' ? phase.by : undefined;
  const data = { principal: by ?? null, begun: isCancelling(run) ? 'stop' : 'finish' } as const;
  const topic = grantedTopic(call.proposal.pool);
  return emission(run, cause, { topic, type: 'CancelGranted', at: now, own: data.begun, callId: call.callId, data });
}

/** What ends the calls that are out in a run that is closing: each holder of the right to settle is asked. */
export function stopCalls(run: Run, cause: Cause, now: number): Emission[] {
  return run.state.calls.filter(isOut).flatMap((call): Emission[] => {
    if (call.state !== 'asked') return [cancelGranted(run, cause, call, now)];
    return isCancelling(run) ? [withdrawCall(run, cause, call, now)] : [];
  });
}

export interface RejectedCall {
  readonly callId: string;
  readonly providerCallId?: string | undefined;
  readonly tool: string;
  readonly contractDigest: string | null;
  readonly argumentsDigest: string | null;
  readonly principal: Principal;
  readonly error: CallError;
  /** `rejected` unless it is said. */
  readonly status?: 'rejected' | 'cancelled';
  readonly undoes?: string;
}

/** The orchestrator's own settlement: the call never left it, nothing happened. */
export function callRejected(run: Run, cause: Cause, rejected: RejectedCall, now: number): Emission<'CallSettled'> {
  const { callId, providerCallId, ...rest } = rejected;
  const data: MessageData<'CallSettled'> = {
    settledBy: 'orchestrator',
    status: 'rejected',
    ...rest,
    ...(providerCallId === undefined ? {} : { providerCallId }),
    decisionNo: null,
    approvalId: null,
    policyDigest: null,
    operationKeyHash: null,
    effect: 'none',
    replayed: false,
    attempts: 0,
    durationMs: 0,
    result: null,
  };
  return emission(run, cause, { topic: TOPICS.callRejected, type: 'CallSettled', at: now, own: 1, callId, data });
}

/** A turn carries the results that the model has not been given: one for each proposal of its last turn, in their order. */
export function requestTurn(run: Run, cause: Cause, turn: number, now: number): Emission<'RequestTurn'> {
  const { agent, input, toolset } = run.definition;
  const stage = stageOf(run);
  if (!agent) throw new TypeError(`the run ${run.definition.runId} has no agent`);
  const results = run.state.calls
    .filter(isSettled)
    .flatMap(({ callId, providerCallId = callId, output }): TurnResult[] =>
      output === undefined ? [] : [{ callId, providerCallId, output }],
    );
  const notes = [newsNote(run, turn), handBackNote(run, turn)].filter((note) => note !== null);
  const data: MessageData<'RequestTurn'> = {
    turn,
    ...(notes.length === 0 ? {} : { note: notes.join('\n\n') }),
    agent,
    ...(turn === 1 ? { input: input ?? '' } : {}),
    results: fitResults(results),
    toolset: stage ? shownIn(stage, toolset) : [...toolset],
    ...(stage?.toolChoice === undefined ? {} : { toolChoice: stage.toolChoice }),
    parallelToolCalls: parallelOf(run) > 1,
    limits: turnLimits(run),
  };
  return emission(run, cause, { topic: TOPICS.modelRequests, type: 'RequestTurn', at: now, own: turn, data });
}

/** Answers a command that does not fit; to the tenant that sent it. */
export function commandRefused(
  input: InputOf<CommandType>,
  code: ErrorCode,
  message: string,
  now: number,
  details: readonly ErrorDetail[] = [],
): Emission<'CommandRefused'> {
  const { runId, tenant, causationId, correlationId } = input;
  const { commandId } = input.data;
  const id = derivedId('msg', 'CommandRefused', runId, tenant, commandId, code);
  return {
    topic: TOPICS.runEvents,
    type: 'CommandRefused',
    id,
    at: now,
    runId,
    tenant,
    causationId,
    correlationId,
    data: {
      commandId,
      code,
      message,
      ...(details.length === 0 ? {} : { details: details as MessageData<'CommandRefused'>['details'] }),
    },
  };
}
