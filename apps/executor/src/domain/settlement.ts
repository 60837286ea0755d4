import {
  callSettledSchema,
  message,
  outgoing,
  settledTopic,
  type CallError,
  type CallSettled,
  type Cancellation,
  type OutgoingMessage,
  type ResultViews,
} from '#contracts';
import { ERROR_CODES, type ErrorCode } from '#kernel';
import { contextOfCall, type GrantedCall } from './prepared-call.ts';

/** How a call ended, as the executor that holds the right to settle it knows. */
export interface Ending {
  readonly status: 'succeeded' | 'failed' | 'outcome_unknown' | 'cancelled';
  readonly effect: CallSettled['effect'];
  readonly replayed: boolean;
  readonly attempts: number;
  readonly durationMs: number;
  readonly error: CallError | null;
  readonly result: ResultViews | null;
  /** What a cancellation came to; the time is the settlement's. */
  readonly cancellation?: Omit<Cancellation, 'at'>;
}

/** An error of the executor's own. */
export function executorError(code: ErrorCode, text: string = ERROR_CODES[code].meaning): CallError {
  const { retry } = ERROR_CODES[code];
  return {
    code,
    message: text,
    retryable: retry === 'backoff',
    retryAfterMs: null,
    requiresApproval: false,
    userActionRequired: false,
    humanTakeover: retry === 'reconcile',
    changeArguments: retry === 'model',
  };
}

const without = { replayed: false, attempts: 0, durationMs: 0, result: null } as const;

export const busyEnding = (): Ending => ({
  ...without,
  status: 'failed',
  effect: 'none',
  error: executorError('BUSY'),
});
export const conflictEnding = (): Ending => ({
  ...without,
  status: 'failed',
  effect: 'none',
  error: executorError('IDEMPOTENCY_CONFLICT', 'The operation key was used before with other arguments.'),
});
/** @param looking the runtime goes on finding out; else nobody but a person can */
export const unknownEnding = (attempts: number, durationMs = 0, looking = false): Ending => ({
  ...without,
  status: 'outcome_unknown',
  effect: 'unknown',
  attempts,
  durationMs,
  error: looking
    ? {
        ...executorError('OUTCOME_UNKNOWN', `${ERROR_CODES.OUTCOME_UNKNOWN.meaning} It is being found out.`),
        humanTakeover: false,
      }
    : executorError('OUTCOME_UNKNOWN'),
});
/** The operation's outcome is unknown since an earlier call: this one joins its reconciliation, and never runs. */
export const joinEnding = (): Ending => ({ ...unknownEnding(0), replayed: true });

/** The recorded result of the key's earlier call. */
export function replayEnding(stored: string): Ending {
  const record = callSettledSchema.parse((JSON.parse(stored) as { data: unknown }).data);
  return {
    ...without,
    status: 'succeeded',
    effect: record.effect,
    replayed: true,
    error: record.error,
    result: record.result,
  };
}

export function settlementOf(call: GrantedCall, ending: Ending, pool: string, nowMs: number): OutgoingMessage {
  const { granted, claims } = call;
  const context = contextOfCall(call, nowMs, 'settled');
  const data: CallSettled = {
    settledBy: 'executor',
    status: ending.status,
    ...(granted.data.providerCallId === undefined ? {} : { providerCallId: granted.data.providerCallId }),
    tool: claims.tool,
    contractDigest: claims.contractDigest,
    argumentsDigest: claims.argsDigest,
    principal: granted.data.principal,
    decisionNo: claims.decisionNo,
    approvalId: claims.approvalId ?? null,
    policyDigest: claims.policyDigest,
    operationKeyHash: call.keyHash,
    effect: ending.effect,
    replayed: ending.replayed,
    ...(claims.undoes === undefined ? {} : { undoes: claims.undoes }),
    attempts: ending.attempts,
    durationMs: Math.round(ending.durationMs * 10) / 10,
    error: ending.error,
    result: ending.result,
    ...(ending.cancellation ? { cancellation: { ...ending.cancellation, at: new Date(nowMs).toISOString() } } : {}),
  };
  return outgoing(settledTopic(pool), message('CallSettled', context, data));
}
