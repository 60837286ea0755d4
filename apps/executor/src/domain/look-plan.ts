import type { Reconcile } from '#contracts';

const LONGEST_PAUSE_MS = 900_000;

/** Milliseconds until the next look, after `looks` of them: doubling, up to a quarter of an hour or the contract's own pause. */
export const nextLookMs = ({ everyMs }: Pick<Reconcile, 'everyMs'>, looks: number): number =>
  Math.max(everyMs, Math.min(everyMs * 2 ** Math.min(Math.max(looks - 1, 0), 20), LONGEST_PAUSE_MS));

/** Milliseconds between two looks while the call is still in work. `tries` so far, 1 or more. */
export const quickPauseMs = ({ firstMs, capMs }: Pick<Reconcile, 'firstMs' | 'capMs'>, tries: number): number =>
  Math.min(firstMs * 2 ** Math.min(tries - 1, 20), capMs);
