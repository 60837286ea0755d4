import type { ConsumerSpec } from './bus.port.ts';
import type { Work } from './work.ts';

/**
 * One group's queue and its reducer loop.
 *
 * Q1 A batch takes all that is queued, up to `maxBatch`, when the batch before it returns: batches grow with the load.
 * Q2 At most `concurrency` batches are in flight, and never two that hold the same key: order within a key stays (B2).
 *    Off the path, a batch begins no sooner than `paceMs` after the one before began: the only timer.
 * Q3 What a stop leaves behind was not settled, so it comes again.
 */
export interface GroupLoopOptions {
  readonly spec: Pick<ConsumerSpec, 'maxBatch' | 'concurrency' | 'offPath'>;
  readonly route: (batch: readonly Work[]) => Promise<void>;
  /** The route threw: the bus is stopping, or a fault of ours. */
  readonly onError: (error: unknown) => void;
  /** Called when the queue became shorter. */
  readonly onTaken?: () => void;
}

const DEFAULT_MAX_BATCH = 256;
/** How many batches' worth of queue is searched for keys that are free. */
const SEARCH_BATCHES = 4;

export class GroupLoop {
  readonly #options: GroupLoopOptions;
  readonly #maxBatch: number;
  readonly #concurrency: number;
  readonly #paceMs: number;
  readonly #busyKeys = new Set<string>();
  readonly #inFlight = new Set<Promise<void>>();
  #queue: Work[] = [];
  #scheduled = false;
  #notBefore = 0;
  #timer: NodeJS.Timeout | null = null;
  #state: 'waiting' | 'running' | 'stopped' = 'waiting';

  constructor(options: GroupLoopOptions) {
    this.#options = options;
    this.#maxBatch = options.spec.maxBatch ?? DEFAULT_MAX_BATCH;
    this.#concurrency = options.spec.concurrency ?? 1;
    this.#paceMs = options.spec.offPath?.paceMs ?? 0;
  }

  get queued(): number {
    return this.#queue.length;
  }

  push(works: readonly Work[]): void {
    for (const work of works) this.#queue.push(work);
    this.#schedule();
  }

  start(): void {
    if (this.#state !== 'waiting') return;
    this.#state = 'running';
    this.#schedule();
  }

  /** Begins no further batch; resolves when those in flight are through. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    if (this.#timer) clearTimeout(this.#timer);
    while (this.#inFlight.size > 0) await Promise.allSettled([...this.#inFlight]);
  }

  /** setImmediate gathers what all sockets brought in one turn of the event loop. */
  #schedule(): void {
    if (this.#scheduled || this.#state !== 'running' || this.#inFlight.size >= this.#concurrency) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#fill();
    });
  }

  #fill(): void {
    while (this.#state === 'running' && this.#inFlight.size < this.#concurrency && !this.#mustPause()) {
      const batch = this.#take();
      if (batch.length === 0) return;
      this.#notBefore = this.#paceMs === 0 ? 0 : performance.now() + this.#paceMs;
      this.#options.onTaken?.();
      this.#run(batch);
    }
  }

  /** True while the pace says wait; then #fill is called again when it is over. */
  #mustPause(): boolean {
    const restMs = this.#notBefore === 0 || this.#queue.length === 0 ? 0 : this.#notBefore - performance.now();
    if (restMs <= 0) return false;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#fill();
    }, Math.ceil(restMs));
    return true;
  }

  #run(batch: readonly Work[]): void {
    const keys = this.#concurrency > 1 ? batch.map(keyOf) : [];
    for (const key of keys) if (key !== null) this.#busyKeys.add(key);
    const flight = this.#options
      .route(batch)
      .catch(this.#options.onError)
      .finally(() => {
        for (const key of keys) if (key !== null) this.#busyKeys.delete(key);
        this.#inFlight.delete(flight);
        this.#fill();
      });
    this.#inFlight.add(flight);
  }

  #take(): Work[] {
    const free = this.#busyKeys.size === 0;
    if (free && this.#queue.length <= this.#maxBatch) {
      const all = this.#queue;
      this.#queue = [];
      return all.some((work) => work.isStale?.()) ? all.filter((work) => !work.isStale?.()) : all;
    }
    const batch: Work[] = [];
    const kept: Work[] = [];
    let seen = 0;
    for (
      ;
      seen < this.#queue.length && batch.length < this.#maxBatch && kept.length < this.#maxBatch * SEARCH_BATCHES;
      seen++
    ) {
      const work = this.#queue[seen]!;
      if (work.isStale?.()) continue;
      const key = free ? null : keyOf(work);
      (key !== null && this.#busyKeys.has(key) ? kept : batch).push(work);
    }
    this.#queue = kept.length === 0 ? this.#queue.slice(seen) : kept.concat(this.#queue.slice(seen));
    return batch;
  }
}

const keyOf = (work: Work): string | null => work.delivery.key?.toString('latin1') ?? null;
