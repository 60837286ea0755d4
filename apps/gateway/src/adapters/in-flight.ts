import { HttpProblem } from '../domain/problem.ts';

/** Bounds the requests that publish or wait, so that queues stay shorter than what lies in them lives. */
export class InFlight {
  readonly #limit: number;
  #count = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @throws HttpProblem 429 when the limit is reached */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#count >= this.#limit) {
      const detail = 'Too many requests are in work here; try again with the same Idempotency-Key';
      throw new HttpProblem(429, 'RATE_LIMITED', detail, { headers: { 'retry-after': '1' } });
    }
    this.#count++;
    try {
      return await work();
    } finally {
      this.#count--;
    }
  }
}
