import { RepeatedLook, type Log, type Worker } from '#runtime';
import type { RunReducer } from './run.reducer.ts';

/** Looks for runs whose wall clock, grace period or re-drive is due. One look at a time; a full one is followed by the next at once. */
export const runTimers = (reducer: RunReducer, log: Log, everyMs: number): Worker =>
  new RepeatedLook({
    everyMs,
    atOnce: false,
    log,
    failed: 'looking for due runs failed; it is tried again',
    look: async (state) => {
      while (!state.stopped && (await reducer.wake()));
    },
  });
