import type { Writable } from 'node:stream';

/** How long a reader that was dropped may take to read why. */
const FAREWELL_MS = 5_000;
/** How long one that is behind by more than is allowed is waited for. */
const PATIENCE_MS = 10_000;
/** Milliseconds after which a client that lost the stream should come back. */
const RETRY_MS = 1_000;

/**
 * Server-sent events onto a response, for readers of any speed.
 * V1 what a reader has not taken yet is bounded: it is waited for, and one that is too slow is told so and dropped; it
 *    comes back with the id of the last event that reached it, and misses nothing;
 * V2 after the last write nothing is written.
 */
export class EventWriter {
  readonly #out: Writable;
  readonly #maxBytes: number;
  readonly #patienceMs: number;
  #open = true;

  constructor(out: Writable, maxBytes: number, patienceMs = PATIENCE_MS) {
    this.#out = out;
    this.#maxBytes = maxBytes;
    this.#patienceMs = patienceMs;
    out.on('close', () => (this.#open = false));
    out.on('error', () => (this.#open = false));
    this.#write(`retry: ${RETRY_MS}\n\n`);
  }

  /** False once the reader is gone or was dropped. */
  get open(): boolean {
    return this.#open;
  }

  /** `data` becomes one line of JSON. Resolves when the reader is not too far behind, or is no more. */
  async event(type: string, data: unknown, id: string): Promise<void> {
    this.#write(`id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
    if (!this.#open || this.#out.writableLength <= this.#maxBytes || (await this.#drained())) return;
    this.end('stream.dropped', { reason: 'The stream was read too slowly; go on from the last id that came' });
  }

  /** A sign of life. */
  beat(): void {
    this.#write(': still here\n\n');
  }

  /** Ends the response, with a last event that has no id. */
  end(type?: string, data?: unknown): void {
    if (!this.#open) return;
    if (type !== undefined) this.#write(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
    this.#open = false;
    this.#out.end();
    const timer = setTimeout(() => this.#out.destroy(), FAREWELL_MS);
    timer.unref();
    this.#out.once('close', () => clearTimeout(timer));
  }

  /** False when the reader did not catch up in time. */
  #drained(): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (drained: boolean) => (): void => {
        clearTimeout(timer);
        this.#out.off('drain', caughtUp).off('close', caughtUp);
        resolve(drained);
      };
      const caughtUp = settle(true);
      const timer = setTimeout(settle(false), this.#patienceMs);
      this.#out.once('drain', caughtUp).once('close', caughtUp);
    });
  }

  #write(text: string): void {
    if (this.#open) this.#out.write(text);
  }
}
