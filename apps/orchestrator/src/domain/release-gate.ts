import type { ErrorCode } from '#kernel';
import { callError } from './call-error.ts';
import type { Refusal } from './admit-batch.ts';
import { failuresInARow, repeatsOf, shortDigest } from './limits.ts';
import { isSettled, type Call, type HeldCall } from './call-state.ts';
import { budgetsOf, type Run } from './run-state.ts';

/**
 * May a call whose turn has come go out? `wait`: what the same calls that are out will bring decides.
 * By what is done and what came of it, not by counting steps: polling with changing answers goes on.
 */
export function releaseGate(
  run: Run,
  calls: readonly Call[],
  { tool, bound, batch }: HeldCall,
): 'open' | 'wait' | Refusal {
  // A person repeats what they know; only a driver runs in circles.
  if (run.definition.driver === 'call' || run.state.batches[batch]?.by !== undefined || bound.edited) return 'open';
  const { maxRepeats, maxToolFailures } = budgetsOf(run);
  const asked = shortDigest(bound.argumentsDigest);
  const denied = calls.find((call) => isSettled(call) && call.status === 'denied' && call.asked === asked);
  if (denied && isSettled(denied))
    return repeated(
      'The same call was denied in this run: nobody is asked again.',
      denied.errorCode ?? 'PERMISSION_DENIED',
    );
  const { unchanged, out } = repeatsOf(calls, asked);
  if (unchanged >= maxRepeats)
    return repeated(`The same call was made ${unchanged} times and nothing changed (maxRepeats ${maxRepeats}).`);
  if (failuresInARow(calls, tool) >= maxToolFailures)
    return {
      limit: 'maxToolFailures',
      error: callError(
        'BUDGET_EXHAUSTED',
        `${tool} failed ${maxToolFailures} times in a row (maxToolFailures). Go on without it, or answer with what stands in the way; proposing it again ends the run.`,
      ),
    };
  return unchanged + out >= maxRepeats ? 'wait' : 'open';
}

const repeated = (why: string, code: ErrorCode = 'REPEATED_CALL'): Refusal => ({
  limit: 'maxRepeats',
  error: callError(
    code,
    `${why} Use what is known, change the arguments or the tool, or answer with what stands in the way; the same call again ends the run.`,
  ),
});
