import { setTimeout as pause } from 'node:timers/promises';
import { faults } from '#kernel';
import { LocalLine } from './local-line.ts';
import type { LockAnswer, LockHandle, LockPort, LockRequest } from './lock.port.ts';
import type { LockStore } from './lock-store.port.ts';

/**
 * The waiting room over a lock server.
 *
 * Owns: the lines inside this process, polling, renewal. Does not own: the locks themselves (`LockStore`).
 * W1 an acquire that meets nobody is one round trip; waiters of one process ask through one head per resource.
 * W2 a head polls with jitter (5 … 50 ms) until its wait is over: bounded, and no connection is held meanwhile.
 * W3 held locks are renewed every third of their ttl; a renewal that fails, or cannot be made before the ttl is over by
 *    this process's monotonic clock, aborts `lost`.
 * W4 an error of the server is answered as `unavailable` at once; whatever it may have taken ends with its ttl.
 */
const POLL_FIRST_MS = 5;
const POLL_CAP_MS = 50;
const RENEWALS_PER_TTL = 3;

interface Held {
  readonly resources: readonly string[];
  readonly owner: string;
  readonly ttlMs: number;
  readonly lost: AbortController;
  /** On the monotonic clock. */
  endsAt: number;
  timer: NodeJS.Timeout;
}

export class WaitingRoom implements LockPort {
  readonly #store: LockStore;
  readonly #line = new LocalLine();
  readonly #held = new Set<Held>();
  #healthy = true;
  #closed = false;

  constructor(store: LockStore) {
    this.#store = store;
  }

  async acquire(request: LockRequest): Promise<LockAnswer> {
    const resources = [...new Set(request.resources)].sort();
    if (resources.length === 0) return { kind: 'held', handle: FREE };
    const signal = endOfWait(request);
    const entered: string[] = [];
    const leave = (): void => {
      for (const resource of entered.splice(0).reverse()) this.#line.leave(resource);
    };
    for (const resource of resources) {
      if (request.waitMs <= 0 && this.#line.busy(resource)) break;
      if (!(await this.#line.enter(resource, signal))) break;
      entered.push(resource);
    }
    if (entered.length < resources.length) {
      leave();
      return { kind: 'busy' };
    }
    try {
      const endsAt = await this.#poll(resources, request, signal);
      if (endsAt === null) {
        leave();
        return { kind: 'busy' };
      }
      return { kind: 'held', handle: this.#hold(resources, request, endsAt, leave) };
    } catch {
      this.#healthy = false;
      leave();
      return { kind: 'unavailable' };
    }
  }

  /** The monotonic time until which the lock is ours, or null when the wait is over. */
  async #poll(resources: readonly string[], request: LockRequest, signal: AbortSignal): Promise<number | null> {
    const queue = request.waitMs > 0;
    for (let delay = POLL_FIRST_MS; ; delay = Math.min(delay * 2, POLL_CAP_MS)) {
      const asked = performance.now();
      faults.at?.('locks', 'before-lock-take');
      const taken = await this.#store.take({ resources, owner: request.owner, ttlMs: Math.ceil(request.ttlMs), queue });
      this.#healthy = true;
      faults.at?.('locks', 'after-lock-take');
      if (taken) return asked + request.ttlMs;
      if (!queue || signal.aborted || this.#closed) break;
      await pause(delay / 2 + Math.random() * (delay / 2), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) break;
    }
    if (queue) await this.#store.free(resources, request.owner).catch(() => undefined);
    return null;
  }

  #hold(resources: readonly string[], request: LockRequest, endsAt: number, leave: () => void): LockHandle {
    const { owner } = request;
    const ttlMs = Math.ceil(request.ttlMs);
    const lost = new AbortController();
    const timer = setInterval(() => void this.#renew(held), Math.max(1, ttlMs / RENEWALS_PER_TTL));
    timer.unref();
    const held: Held = { resources, owner, ttlMs, lost, endsAt, timer };
    this.#held.add(held);
    const release = async (): Promise<void> => {
      if (!this.#held.delete(held)) return;
      clearInterval(timer);
      faults.at?.('locks', 'before-lock-release');
      await this.#store.free(resources, owner).catch(() => {
        this.#healthy = false;
      });
      faults.at?.('locks', 'after-lock-release');
      leave();
    };
    return { lost: lost.signal, release };
  }

  async #renew(held: Held): Promise<void> {
    const asked = performance.now();
    faults.at?.('locks', 'before-lock-renew');
    const kept = await this.#store.renew(held.resources, held.owner, held.ttlMs).catch(() => null);
    faults.at?.('locks', 'after-lock-renew');
    if (kept === true) {
      held.endsAt = asked + held.ttlMs;
      return;
    }
    const next = performance.now() + held.ttlMs / RENEWALS_PER_TTL;
    if (kept === null && next < held.endsAt) return; // the server is away, but there is time for another try
    clearInterval(held.timer);
    held.lost.abort();
  }

  healthy(): boolean {
    return this.#healthy;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const held of this.#held) clearInterval(held.timer);
    this.#held.clear();
    await this.#store.close();
  }
}

const FREE: LockHandle = { lost: new AbortController().signal, release: () => Promise.resolve() };

function endOfWait(request: LockRequest): AbortSignal {
  if (request.waitMs <= 0) return request.signal ?? FREE.lost;
  const timeout = AbortSignal.timeout(Math.ceil(request.waitMs));
  return request.signal ? AbortSignal.any([request.signal, timeout]) : timeout;
}
