import { CountersignError, faults, InfrastructureError, type RetryClass } from '#kernel';
import type { Step } from '../router.ts';

/** A refusal by the handler is final; everything else may be a passing fault. */
const MAY_PASS: ReadonlySet<RetryClass> = new Set(['backoff', 'contract']);

/** Innermost: the group's own reducer. Its failure is the failure of each message of the batch. */
export const reduce: Step = (context) => async (batch) => {
  try {
    faults.at?.(context.spec.group, 'received');
    await context.spec.reduce(batch.map((work) => ({ message: work.body.decode(), delivery: work.delivery })));
    faults.at?.(context.spec.group, 'handled');
    return [];
  } catch (error) {
    if (error instanceof InfrastructureError) throw error;
    const permanent = error instanceof CountersignError && !MAY_PASS.has(error.retry);
    return batch.map((work) => ({ work, error, permanent, handlerAttempts: work.delivery.attempt }));
  }
};
