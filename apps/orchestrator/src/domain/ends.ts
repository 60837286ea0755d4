import type { LimitName } from '#contracts';
import type { ErrorCode } from '#kernel';
import type { End } from './run-state.ts';

/** A stop always states which limit it was, what was used of it, and how the run goes on. */
export function limitEnd(
  limit: LimitName,
  value: number | boolean,
  used: string,
  code: 'BUDGET_EXHAUSTED' | 'REPEATED_CALL' = 'BUDGET_EXHAUSTED',
): End {
  const how = limit === 'allowUnknownCost' ? 'allowUnknownCost: true' : `a higher ${limit}`;
  const message = `The run reached its limit ${limit} (${value}): ${used}. To go on, resume it with ${how}`;
  return { status: 'budget_exhausted', cause: { code, message, limit }, answer: null };
}

export const completedEnd = (answer: string | null): End => ({ status: 'completed', cause: null, answer });

export function cancelledEnd(principalId: string, reason: string | undefined): End {
  const why = reason === undefined || reason.trim() === '' ? '' : `: ${reason}`;
  return {
    status: 'cancelled',
    cause: { code: 'CANCELLED', message: `The run was cancelled by ${principalId}${why}` },
    answer: null,
  };
}

/** A refusal stops the run; every other fault of the model fails it. */
export const modelEnd = (code: ErrorCode, message: string): End => ({
  status: code === 'MODEL_REFUSED' ? 'stopped' : 'failed',
  cause: { code, message },
  answer: null,
});
