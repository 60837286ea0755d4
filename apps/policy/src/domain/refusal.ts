import type { CallError } from '#contracts';
import { ERROR_CODES, type ErrorCode } from '#kernel';
import type { DecisionState } from './decision.ts';

export type Refusal = Extract<DecisionState, { kind: 'refused' }>;

export const refusal = (
  status: Refusal['status'],
  code: ErrorCode,
  message: string,
  approvalId: string | null = null,
): Refusal => ({
  kind: 'refused',
  status,
  code,
  message,
  approvalId,
});

export function refusalError({ code, message, replacedBy }: Refusal): CallError {
  const retry = ERROR_CODES[code].retry;
  return {
    code,
    message,
    retryable: retry === 'backoff',
    retryAfterMs: null,
    requiresApproval: code === 'APPROVAL_EXPIRED',
    userActionRequired: false,
    humanTakeover: false,
    changeArguments: false,
    ...(replacedBy === undefined ? {} : { replacedBy }),
  };
}
