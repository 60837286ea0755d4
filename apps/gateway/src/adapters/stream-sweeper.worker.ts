import type { Worker } from '#runtime';
import type { RunStreams } from './run-streams.ts';

/** How soon a silent stream ends after its credential did. */
const SWEEP_MS = 1_000;

/** Ends open streams whose credentials are no longer good. */
export class StreamSweeper implements Worker {
  readonly #streams: Pick<RunStreams, 'sweep'>;
  #timer: NodeJS.Timeout | null = null;

  constructor(streams: Pick<RunStreams, 'sweep'>) {
    this.#streams = streams;
  }

  start(): void {
    this.#timer = setInterval(() => this.#streams.sweep(), SWEEP_MS);
    this.#timer.unref();
  }

  drain(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    return Promise.resolve();
  }
}
