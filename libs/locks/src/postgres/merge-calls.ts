/**
 * Merges calls into batches: one batch in flight, the next one starts when it returns with all that came meanwhile.
 * A lone call goes at once. No timers.
 */
export function mergeCalls<I, O>(
  work: (inputs: readonly I[]) => Promise<readonly O[]>,
  maxBatch = 256,
): (input: I) => Promise<O> {
  interface Waiting {
    readonly input: I;
    resolve(value: O): void;
    reject(reason: unknown): void;
  }
  let waiting: Waiting[] = [];
  let running = false;

  const run = async (): Promise<void> => {
    running = true;
    await Promise.resolve(); // what else is asked for in this tick travels along
    while (waiting.length > 0) {
      const batch = waiting.slice(0, maxBatch);
      waiting = waiting.slice(maxBatch);
      try {
        const answers = await work(batch.map((w) => w.input));
        batch.forEach((w, index) => w.resolve(answers[index]!));
      } catch (error) {
        batch.forEach((w) => w.reject(error));
      }
    }
    running = false;
  };

  return (input) =>
    new Promise<O>((resolve, reject) => {
      waiting.push({ input, resolve, reject });
      if (!running) void run();
    });
}
