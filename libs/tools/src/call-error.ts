import type { CallError, ToolContract } from '#contracts';
import { ERROR_CODES, type ErrorCode, type ErrorDetail } from '#kernel';

export type ErrorRow = ToolContract['errors'][number];

export interface CallErrorOptions {
  readonly details?: readonly ErrorDetail[];
  /** Default: by the retry class of the code. */
  readonly retryable?: boolean;
  /** Milliseconds. */
  readonly retryAfterMs?: number | null;
  /** The contract's row that gave the code. */
  readonly row?: ErrorRow;
}

/** What a failed call tells a model, a program and a person. `message` must already be free of secrets. */
export function callError(code: ErrorCode, message: string, options: CallErrorOptions = {}): CallError {
  const retry = ERROR_CODES[code].retry;
  return {
    code,
    message,
    ...(options.details?.length
      ? {
          details: options.details.map(({ allowed, ...rest }) => (allowed ? { ...rest, allowed: [...allowed] } : rest)),
        }
      : {}),
    retryable: options.retryable ?? options.row?.retryable ?? retry === 'backoff',
    retryAfterMs: options.retryAfterMs ?? null,
    requiresApproval: code === 'APPROVAL_REQUIRED',
    userActionRequired: options.row?.userAction ?? false,
    humanTakeover: options.row?.humanTakeover ?? retry === 'reconcile',
    changeArguments: retry === 'model',
  };
}
