/**
 * Merges single requests into batches: at most `inFlight` batches at once, the next one starts when one returns, with
 * all that came meanwhile. A lone request goes at once; no timers.
 */
export interface BatcherOptions {
  readonly inFlight: number;
  readonly maxBatch: number;
}

interface Waiting<I, O> {
  readonly input: I;
  resolve(value: O): void;
  reject(reason: unknown): void;
}

export function createBatcher<I, O>(
  work: (inputs: readonly I[]) => Promise<readonly O[]>,
  options: BatcherOptions,
): (input: I) => Promise<O> {
  let waiting: Waiting<I, O>[] = [];
  let running = 0;

  const run = async (): Promise<void> => {
    await Promise.resolve(); // what else is asked for in this tick travels along
    while (waiting.length > 0) {
      const batch = waiting.slice(0, options.maxBatch);
      waiting = waiting.slice(options.maxBatch);
      await work(batch.map((w) => w.input)).then(
        (answers) => batch.forEach((w, index) => w.resolve(answers[index]!)),
        (error: unknown) => batch.forEach((w) => w.reject(error)),
      );
    }
    running--;
  };

  return (input) =>
    new Promise<O>((resolve, reject) => {
      waiting.push({ input, resolve, reject });
      if (running >= options.inFlight) return;
      running++;
      void run();
    });
}
