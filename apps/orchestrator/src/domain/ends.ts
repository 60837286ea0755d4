import type { ErrorCode } from '#kernel';
import type { End } from './run-state.ts';

/** A stop always states which limit it was. */
export function limitEnd(limit: 'maxTurns' | 'maxCalls' | 'wallClockMs', value: number): End {
  const message = `The run reached its limit ${limit} (${value})`;
  return { status: 'budget_exhausted', cause: { code: 'BUDGET_EXHAUSTED', message }, answer: null };
}

export const completedEnd = (answer: string | null): End => ({ status: 'completed', cause: null, answer });

/** A refusal stops the run; every other fault of the model fails it. */
export const modelEnd = (code: ErrorCode, message: string): End => ({
  status: code === 'MODEL_REFUSED' ? 'stopped' : 'failed',
  cause: { code, message },
  answer: null,
});
