import type { Step } from '../router.ts';
import type { Failed } from '../work.ts';

/** When a batch fails, its messages are handed over one by one: one bad message never takes others with it (B4). */
export const isolate: Step = (_context, next) => async (batch) => {
  const failed = await next(batch);
  if (failed.length === 0 || batch.length === 1) return failed;
  const single: Failed[] = [];
  for (const work of batch) single.push(...(await next([work])));
  return single;
};
