import type { CallError } from '#contracts';
import type { RunOutcome } from './tool-runner.port.ts';

/** What is known about the attempts of one call, the last one included. */
export interface Attempts {
  readonly write: boolean;
  /** The contract's idempotency. */
  readonly repeat: 'natural' | 'key' | 'none';
  /** Attempts so far, 1 or more; attempts of earlier owners count. */
  readonly made: number;
  /** Attempts that the contract allows. */
  readonly allowed: number;
  /** An earlier attempt may have had its effect. */
  readonly maybeBefore: boolean;
}

export type NextStep =
  | { readonly kind: 'succeeded' }
  /** Proved: nothing was changed. */
  | { readonly kind: 'failed'; readonly error: CallError }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'repeat'; readonly maybe: boolean };

/** One more than the first: a safely repeatable write whose answer was lost gets a second try whatever its contract says. */
const TRIES_OF_A_LOST_ANSWER = 2;
/** A tool that is down after a lost answer is asked some more times before the call ends as unknown. */
const TRIES_TO_FIND_OUT = 4;

/**
 * What follows an attempt (safety.md, "After a crash or timeout").
 * A failure ends a write as `failed` only where no attempt can have had an effect; else it is repeated with the same key
 * where the contract makes that harmless, or ends as unknown.
 */
export function nextStep(outcome: RunOutcome, attempts: Attempts): NextStep {
  if (outcome.kind === 'answered') return { kind: 'succeeded' };
  const { error } = outcome;
  const more = attempts.made < attempts.allowed;
  if (!attempts.write) return error.retryable && more ? { kind: 'repeat', maybe: false } : { kind: 'failed', error };

  if (outcome.sent === 'not_sent') {
    const finding =
      attempts.maybeBefore && attempts.repeat !== 'none' && attempts.made < attempts.allowed + TRIES_TO_FIND_OUT;
    if (more || finding) return { kind: 'repeat', maybe: attempts.maybeBefore };
    return attempts.maybeBefore ? { kind: 'unknown' } : { kind: 'failed', error };
  }
  if (outcome.sent === 'answered' && outcome.noEffect) {
    if (error.retryable && more) return { kind: 'repeat', maybe: attempts.maybeBefore };
    // A tool that honours the key speaks for the earlier attempt too, if its answer is final.
    // That the version has changed does not: the earlier attempt may be what changed it.
    const speaksForAll = attempts.repeat === 'key' && !error.retryable && error.code !== 'APPROVAL_MISMATCH';
    return attempts.maybeBefore && !speaksForAll ? { kind: 'unknown' } : { kind: 'failed', error };
  }
  if (attempts.repeat === 'none') return { kind: 'unknown' };
  const tries = Math.max(attempts.allowed, TRIES_OF_A_LOST_ANSWER);
  return attempts.made < tries ? { kind: 'repeat', maybe: true } : { kind: 'unknown' };
}

/** Full jitter, at least what the tool asked for. `random` in 0 … 1; milliseconds. */
export function pauseBefore(
  next: number,
  retry: { readonly backoffMs: number; readonly capMs: number },
  retryAfterMs: number | null | undefined,
  random: number,
): number {
  const ceiling = Math.min(retry.capMs, retry.backoffMs * 2 ** Math.min(next - 2, 20));
  return Math.max(Math.min(retryAfterMs ?? 0, 60_000), random * ceiling);
}
