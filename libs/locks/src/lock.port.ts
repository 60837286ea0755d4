/**
 * The waiting room of a resource: it only orders the wait. Correctness (one writer) is the journal's hold and fence;
 * losing every lock costs time, never safety (G6).
 *
 * L1 at most one owner per resource while nothing is lost and no holder outlives its ttl;
 * L2 several resources are taken in sorted order, all or none; L3 waiters are served about first come, first served;
 * L4 release compares the owner; L5 a holder that cannot renew is told (`lost`); L6 an unreachable lock server
 *    answers `unavailable`: the caller goes on with the holds alone.
 */
export interface LockHandle {
  /** Aborts when the lock is known or must be feared to be lost. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

export type LockAnswer =
  { readonly kind: 'held'; readonly handle: LockHandle } | { readonly kind: 'busy' } | { readonly kind: 'unavailable' };

export interface LockRequest {
  /** Canonical resource names, prefixed with the tenant by the caller. Empty = nothing to wait for. */
  readonly resources: readonly string[];
  /** Unique per attempt, e.g. callId + epoch. */
  readonly owner: string;
  /** Milliseconds to wait in the room; 0 = do not wait. */
  readonly waitMs: number;
  /** Milliseconds until an unrenewed lock frees itself; renewed by timer while held. */
  readonly ttlMs: number;
  readonly signal?: AbortSignal;
}

export interface LockPort {
  acquire(request: LockRequest): Promise<LockAnswer>;
  healthy(): boolean;
  close(): Promise<void>;
}
