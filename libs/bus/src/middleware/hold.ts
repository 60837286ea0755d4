import { setTimeout as wait } from 'node:timers/promises';
import { InfrastructureError } from '#kernel';
import type { RouteContext, Step } from '../router.ts';

/** While the infrastructure is away the work is held in place and tried again; it never counts as an attempt (B5). */
export const hold: Step = (context, next) => (batch) => untilDone(context, () => next(batch));

const FIRST_WAIT_MS = 50;
const MAX_WAIT_MS = 5_000;

/**
 * Repeats `task` for as long as it throws InfrastructureError.
 * @throws Stopping when the bus stops meanwhile; whatever else `task` throws
 */
export async function untilDone<T>(
  context: Pick<RouteContext, 'spec' | 'log' | 'stopping'>,
  task: () => Promise<T>,
): Promise<T> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(MAX_WAIT_MS, waitMs * 2)) {
    try {
      return await task();
    } catch (error) {
      if (!(error instanceof InfrastructureError)) throw error;
      context.log.warn({ group: context.spec.group, waitMs, reason: error.message }, 'bus.held');
    }
    if (!context.stopping.aborted) await wait(waitMs, undefined, { signal: context.stopping }).catch(() => undefined);
    if (context.stopping.aborted) throw new Stopping();
  }
}

/** The bus stops; the work at hand is left undone. */
export class Stopping extends Error {
  constructor() {
    super('the bus is stopping');
    this.name = 'Stopping';
  }
}
