import type { CallError, CallSettled, Effect, Message, ShownStatus } from '#contracts';

/** What a caller gets for a settled call. */
export type CallResult = SucceededResult | FailedResult;

interface Identified {
  readonly tool: string;
  readonly callId: string;
  readonly runId: string;
  readonly providerCallId: string | null;
  readonly requestId: string;
  readonly replayed: boolean;
}

export interface SucceededResult extends Identified {
  readonly ok: true;
  readonly data: unknown;
  readonly evidence: { readonly resourceIds: readonly string[]; readonly sources: readonly unknown[] };
  readonly truncated: { readonly reason: string; readonly originalBytes: number } | null;
  /** A fault of the reply (INVALID_RESULT, RESULT_TOO_LARGE, RESULT_BLOCKED): the effect stands all the same. */
  readonly fault: CallError | null;
}

export interface FailedResult extends Identified {
  readonly ok: false;
  readonly error: Pick<CallError, 'code' | 'message' | 'details'>;
  readonly status: ShownStatus;
  readonly effect: Effect;
  readonly approvalId: string | null;
  readonly retryable: boolean;
  readonly retryAfterMs: number | null;
  readonly requiresApproval: boolean;
  readonly userActionRequired: boolean;
  readonly humanTakeover: boolean;
  readonly changeArguments: boolean;
  /** The call that a person wrote in its place. */
  readonly replacedBy: string | null;
}

/** What the result needs of a settlement, from the message or from a stored view. */
export type Settlement = Pick<
  CallSettled,
  'tool' | 'providerCallId' | 'replayed' | 'approvalId' | 'error' | 'result'
> & { readonly callId: string; readonly runId: string; readonly status: ShownStatus; readonly effect: Effect };

export const settlementOf = (message: Message<'CallSettled'>): Settlement => ({
  ...message.data,
  callId: message.callId!,
  runId: message.runId!,
});

/** A call that succeeded stays so whatever became of its reply (G9); only the sanitized view is shown (G10). */
export function resultOf(settled: Settlement, requestId: string): CallResult {
  const { tool, callId, runId, replayed, result } = settled;
  const identified = { tool, callId, runId, providerCallId: settled.providerCallId ?? null, requestId, replayed };
  if (settled.status === 'succeeded') {
    return {
      ok: true,
      data: result?.sanitized ?? null,
      ...identified,
      evidence: result?.evidence ?? { resourceIds: [], sources: [] },
      truncated: result?.truncated ?? null,
      fault: result?.fault ?? null,
    };
  }
  const error = settled.error ?? NO_REASON;
  return {
    ok: false,
    error: { code: error.code, message: error.message, details: error.details ?? [] },
    status: settled.status,
    effect: settled.effect,
    approvalId: settled.approvalId,
    retryable: error.retryable,
    retryAfterMs: error.retryAfterMs ?? null,
    requiresApproval: error.requiresApproval ?? false,
    userActionRequired: error.userActionRequired ?? false,
    humanTakeover: error.humanTakeover ?? false,
    changeArguments: error.changeArguments ?? false,
    replacedBy: error.replacedBy ?? null,
    ...identified,
  };
}

const NO_REASON: CallError = { code: 'INTERNAL', message: 'The call ended without a reason', retryable: false };
