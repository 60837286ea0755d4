import { errorFields, type Log, type Worker } from '#runtime';
import type { JournalRepository } from '../adapters/journal.repository.ts';

/**
 * The leases of this process's calls, renewed by one statement for all of them (J8, J9).
 * A lease's end is reckoned on the monotonic clock from before the statement that took it: never later than the database's.
 */
export class Lease {
  readonly callId: string;
  readonly epoch: number;
  readonly leaseMs: number;
  readonly #lost = new AbortController();
  #endsAt: number;

  constructor(callId: string, epoch: number, leaseMs: number, takenAt: number) {
    this.callId = callId;
    this.epoch = epoch;
    this.leaseMs = leaseMs;
    this.#endsAt = takenAt + leaseMs;
  }

  /** Milliseconds; 0 or less = it may be another's by now. */
  get remaining(): number {
    return this.signal.aborted ? 0 : this.#endsAt - performance.now();
  }

  /** Aborts when the call is no longer ours: stop and drop. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  prolong(from: number): void {
    this.#endsAt = from + this.leaseMs;
  }

  lose(): void {
    this.#lost.abort();
  }
}

export interface LeaseKeeperOptions {
  readonly journal: JournalRepository;
  readonly log: Log;
  /** The call was cancelled at another process. */
  readonly onStop: (callId: string) => void;
  /** Milliseconds between looks: a third of the shortest lease. */
  readonly everyMs: number;
}

export class LeaseKeeper implements Worker {
  readonly #options: LeaseKeeperOptions;
  readonly #leases = new Map<string, Lease>();
  #timer: NodeJS.Timeout | null = null;
  #renewing: Promise<void> | null = null;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.#renewDue(), this.#options.everyMs);
  }

  /** @param takenAt performance.now() before the statement that took the lease */
  keep(callId: string, epoch: number, leaseMs: number, takenAt: number): Lease {
    const lease = new Lease(callId, epoch, leaseMs, takenAt);
    this.#leases.set(callId, lease);
    return lease;
  }

  /** No longer renewed. */
  drop(lease: Lease): void {
    if (this.#leases.get(lease.callId) === lease) this.#leases.delete(lease.callId);
  }

  /** Makes sure that at least `ms` are left, renewing if need be; false = the call is not ours for that long. */
  async ensure(lease: Lease, ms: number): Promise<boolean> {
    if (lease.remaining > ms) return true;
    if (!lease.signal.aborted) await this.#renew([lease]);
    return lease.remaining > ms;
  }

  #renewDue(): Promise<void> {
    const due = [...this.#leases.values()].filter((lease) => lease.remaining < (lease.leaseMs * 2) / 3);
    if (due.length === 0) return Promise.resolve();
    this.#renewing ??= this.#renew(due).finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  async #renew(due: readonly Lease[]): Promise<void> {
    const from = performance.now();
    try {
      const kept = await this.#options.journal.renew(due);
      for (const [callId, stop] of kept) if (stop) this.#options.onStop(callId);
      for (const lease of due) {
        if (kept.has(lease.callId)) lease.prolong(from);
        else if (this.#leases.get(lease.callId) === lease) this.#lose(lease);
      }
    } catch (error) {
      this.#options.log.warn(errorFields(error), 'leases could not be renewed');
      for (const lease of due) if (lease.remaining <= 0) this.#lose(lease);
    }
  }

  #lose(lease: Lease): void {
    this.#options.log.warn({ callId: lease.callId, epoch: lease.epoch }, 'lease lost');
    this.drop(lease);
    lease.lose();
  }

  async drain(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    await this.#renewing;
  }
}
