import type { Incoming } from '#bus';
import { HttpProblem } from '../domain/problem.ts';
import {
  foldProgress,
  progressOf,
  UNKNOWN,
  WATCHED_OF_RUNS,
  type RunMessage,
  type RunProgress,
} from '../domain/run-progress.ts';

const STREAMED: ReadonlySet<string> = new Set(WATCHED_OF_RUNS);

/**
 * The open streams of this process, and what the bus says of their runs.
 * R1 a stream belongs to one tenant's run: a message of another tenant reaches none (G12);
 * R2 a stream is opened before stored state is read, so that nothing falls between the two;
 * R3 what arrives is a hint of the moment: who watches also reads stored state again;
 * R4 a stream keeps what is known, not what came: a reader that is slow costs no more than its run;
 * R5 a stream lasts no longer than the credential that opened it: who watches asks before each write, and the sweep ends
 *    those that are silent.
 */
export class RunStreams {
  readonly #limits: { readonly perCaller: number; readonly all: number };
  readonly #byRun = new Map<string, Set<RunStream>>();
  readonly #byCaller = new Map<string, number>();
  #size = 0;
  #stopped = false;

  constructor(limits: { readonly perCaller: number; readonly all: number }) {
    this.#limits = limits;
  }

  /**
   * @param caller tenant and principal
   * @param isGood is its credential still good?
   * @throws HttpProblem 429 when the caller or the process has too many open
   */
  open(tenant: string, runId: string, caller: string, isGood: () => boolean = () => true): RunStream {
    const own = this.#byCaller.get(caller) ?? 0;
    if (own >= this.#limits.perCaller)
      throw tooMany(`You have ${own} streams of events open, which is the limit; close one first`);
    if (this.#size >= this.#limits.all) throw tooMany('Too many streams of events are open here; try again');
    const key = `${tenant} ${runId}`;
    const stream = new RunStream(() => this.#close(key, caller, stream), isGood);
    const streams = this.#byRun.get(key) ?? new Set();
    this.#byRun.set(key, streams.add(stream));
    this.#byCaller.set(caller, own + 1);
    this.#size++;
    if (this.#stopped) stream.end();
    return stream;
  }

  deliver(batch: readonly Incoming[]): void {
    if (this.#size === 0) return;
    for (const { message, delivery } of batch) {
      const streams = this.#byRun.get(`${message.tenant} ${message.runId ?? ''}`);
      if (streams && STREAMED.has(message.type))
        for (const stream of streams) stream.see(message as RunMessage, delivery.topic);
    }
  }

  /** Ends all streams, so that a drain does not wait for the run that lasts longest. */
  stop(): void {
    this.#stopped = true;
    for (const streams of this.#byRun.values()) for (const stream of streams) stream.end();
  }

  /** Ends the streams whose credentials have expired or were revoked. */
  sweep(): void {
    for (const streams of this.#byRun.values()) for (const stream of streams) if (!stream.isGood()) stream.end();
  }

  /** Streams that are open; for tests and metrics. */
  get size(): number {
    return this.#size;
  }

  #close(key: string, caller: string, stream: RunStream): void {
    const streams = this.#byRun.get(key);
    if (!streams?.delete(stream)) return;
    if (streams.size === 0) this.#byRun.delete(key);
    const rest = (this.#byCaller.get(caller) ?? 1) - 1;
    if (rest === 0) this.#byCaller.delete(caller);
    else this.#byCaller.set(caller, rest);
    this.#size--;
  }
}

const tooMany = (detail: string): HttpProblem =>
  new HttpProblem(429, 'RATE_LIMITED', detail, { headers: { 'retry-after': '5' } });

/** One open stream: what is known of its run. */
export class RunStream {
  readonly #close: () => void;
  /** Is the credential that opened it still good? */
  readonly isGood: () => boolean;
  #known: RunProgress = UNKNOWN;
  #news = false;
  #wake: (() => void) | null = null;
  #ended = false;

  constructor(close: () => void, isGood: () => boolean) {
    this.#close = close;
    this.isGood = isGood;
  }

  get known(): RunProgress {
    return this.#known;
  }

  learn(progress: RunProgress): void {
    this.#known = foldProgress(this.#known, progress);
  }

  see(message: RunMessage, topic: string): void {
    this.learn(progressOf(message, topic));
    this.#news = true;
    this.#wake?.();
  }

  /** Makes the one who watches stop. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Resolves at once when a message has come since the last time or the stream was ended, else when that happens or the time is over. */
  async next(timeoutMs: number): Promise<void> {
    if (!this.#news && !this.#ended && timeoutMs > 0) await this.#sleep(timeoutMs);
    this.#news = false;
  }

  close(): void {
    this.#close();
  }

  #sleep(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#wake = null;
        resolve();
      };
      const timer = setTimeout(wake, Math.ceil(timeoutMs));
      this.#wake = wake;
    });
  }
}
