import type { Step } from '../router.ts';
import { untilDone } from './hold.ts';

export interface RetryPolicy {
  /** Deliveries to the handler in all, the first included. */
  readonly maxAttempts: number;
  /** Milliseconds before the second delivery; then times `factor` each, up to `maxDelayMs`. */
  readonly firstDelayMs: number;
  readonly factor: number;
  readonly maxDelayMs: number;
}
export const DEFAULT_RETRY: RetryPolicy = { maxAttempts: 5, firstDelayMs: 500, factor: 4, maxDelayMs: 60_000 };

export const retryDelay = (policy: RetryPolicy, attempt: number): number =>
  Math.min(policy.maxDelayMs, policy.firstDelayMs * policy.factor ** (attempt - 1));

/** Parks what may succeed later, a bounded number of times; what is beyond help goes on outwards. */
export const retry: Step = (context, next) => async (batch) => {
  const beyond = [];
  for (const failed of await next(batch)) {
    const { attempt, topic, partition, offset } = failed.work.delivery;
    if (failed.permanent || attempt >= context.retry.maxAttempts || context.spec.from === 'latest') {
      beyond.push(failed);
      continue;
    }
    const delayMs = retryDelay(context.retry, attempt);
    await untilDone(context, () => context.park(failed.work, attempt + 1, delayMs));
    context.log.warn(
      { group: context.spec.group, topic, partition, offset, attempt, delayMs, error: nameOf(failed.error) },
      'bus.retry',
    );
  }
  return beyond;
};

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);
