/** The fate of one `publish`: it resolves when each of its deliveries to a durable group is settled (B1). */
export class Publication {
  readonly settled: Promise<void>;
  #open = 0;
  #resolve!: () => void;
  #reject!: (error: Error) => void;
  readonly #onEnd: (publication: Publication) => void;

  constructor(onEnd: (publication: Publication) => void) {
    this.#onEnd = onEnd;
    this.settled = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get open(): number {
    return this.#open;
  }

  expect(): void {
    this.#open++;
  }

  settle(): void {
    if (--this.#open > 0) return;
    this.#resolve();
    this.#onEnd(this);
  }

  fail(error: Error): void {
    this.#reject(error);
    this.#onEnd(this);
  }
}
