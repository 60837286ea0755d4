import { HttpProblem } from '../domain/problem.ts';

/** Callers that are remembered; a flood of others starts the memory anew, which forgives at most one burst. */
const MAX_CALLERS = 20_000;

interface Bucket {
  tokens: number;
  at: number;
}

/**
 * A token bucket for each caller of this process: `burst` requests at once, `perSecond` of them for ever.
 * A bucket that is full again is as good as none.
 */
export class RateLimit {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  /** @param now milliseconds of a clock that only goes forward */
  constructor(perSecond: number, burst: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#now = now;
  }

  /** Takes one request. @throws HttpProblem 429 with Retry-After and RateLimit headers when there is none left */
  take(caller: string): void {
    const now = this.#now();
    const bucket = this.#buckets.get(caller) ?? this.#open(caller, now);
    bucket.tokens = Math.min(this.#burst, bucket.tokens + ((now - bucket.at) / 1000) * this.#perSecond);
    bucket.at = now;
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return;
    }
    const wait = Math.max(1, Math.ceil((1 - bucket.tokens) / this.#perSecond));
    const detail = `More than ${this.#perSecond} requests a second by this caller (${this.#burst} at once); wait ${wait} s`;
    throw new HttpProblem(429, 'RATE_LIMITED', detail, {
      headers: {
        'retry-after': String(wait),
        ratelimit: `"caller";r=0;t=${wait}`,
        'ratelimit-policy': `"caller";q=${this.#burst};w=${Math.ceil(this.#burst / this.#perSecond)}`,
      },
    });
  }

  #open(caller: string, now: number): Bucket {
    if (this.#buckets.size >= MAX_CALLERS) this.#buckets.clear();
    const bucket = { tokens: this.#burst, at: now };
    this.#buckets.set(caller, bucket);
    return bucket;
  }
}
