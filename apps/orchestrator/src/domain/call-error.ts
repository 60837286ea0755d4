import type { CallError } from '#contracts';
import { ERROR_CODES, type ErrorCode, type ErrorDetail } from '#kernel';

/** Why a proposal ends at the orchestrator, with what a model or program can do next. */
export function callError(code: ErrorCode, message: string, details: readonly ErrorDetail[] = []): CallError {
  return {
    code,
    message,
    ...(details.length === 0
      ? {}
      : {
          details: details.map((d) => ({
            ...d,
            ...(d.allowed ? { allowed: [...d.allowed] } : {}),
          })) as CallError['details'],
        }),
    retryable: false,
    changeArguments: ERROR_CODES[code].retry === 'model',
  };
}

/** The text that a model gets for a call without a result. */
export function errorForModel(status: string, error: CallError | null): string {
  const {
    retryable = false,
    retryAfterMs = null,
    ...shown
  } = error ?? callError('INTERNAL', 'The call ended without a result.');
  return JSON.stringify({ ok: false, status, error: shown, retryable, retryAfterMs });
}
