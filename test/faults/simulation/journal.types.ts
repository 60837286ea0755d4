import type { CallSettled } from '#contracts';
import type { Grant } from './ring.types.ts';

/** One call as the journal keeps it. */
export interface Row {
  readonly grant: Grant;
  state: 'queued' | 'intended' | 'returned' | 'settled';
  epoch: number;
  /** The executor that holds the lease; it renews it as long as it lives and is not stopped. */
  owner: number;
  leaseUntil: number;
  attempts: number;
  queuedAt: number;
  settlement: CallSettled | null;
  /** When an unknown outcome is looked at again. */
  lookAt: number;
  found: Pick<CallSettled, 'status' | 'effect'> | null;
}

/** One attempt, or one look at what it did, under way in one executor: where it stands is lost with its process. */
export interface Task {
  readonly callId: string;
  readonly owner: number;
  readonly epoch: number;
  /** `checked`: past its last look at the lease; nothing holds it back any more. */
  stage: 'ready' | 'checked' | 'asking';
  made: number;
  readonly firstMade: number;
  maybeBefore: boolean;
}

export interface Executor {
  readonly id: number;
  stopped: boolean;
}
