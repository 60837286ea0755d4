import type { Step } from '../router.ts';
import type { Failed, Work } from '../work.ts';

/** Strict decoding, before any handler: what cannot be read fails for good, with 0 handler attempts; other types are skipped. */
export const decode: Step = (context, next) => {
  const accepts = new Set<string>(context.spec.accepts);
  return async (batch) => {
    const refused: Failed[] = [];
    const wanted: Work[] = [];
    for (const work of batch) {
      try {
        if (accepts.has(work.body.decode().type)) wanted.push(work);
      } catch (error) {
        refused.push({ work, error, permanent: true, handlerAttempts: 0 });
      }
    }
    if (wanted.length === 0) return refused;
    const failed = await next(wanted);
    return refused.length === 0 ? failed : [...refused, ...failed];
  };
};
