/**
 * Merges single requests into batches: the next one starts when one returns, with all that came meanwhile. A lone request
 * goes at once; no timers. A statement costs as much as several of its rows: a second batch beside the first is for a crowd.
 */
export interface BatcherOptions<I> {
  readonly inFlight: number;
  /** Waiting requests that make another batch start while one is under way. */
  readonly crowd: number;
  readonly maxBatch: number;
  /** Of a request, and of a batch at most; a request alone may have more. */
  readonly bytesOf?: (input: I) => number;
  readonly maxBytes?: number;
}

interface Waiting<I, O> {
  readonly input: I;
  resolve(value: O): void;
  reject(reason: unknown): void;
}

export function createBatcher<I, O>(
  work: (inputs: readonly I[]) => Promise<readonly O[]>,
  options: BatcherOptions<I>,
): (input: I) => Promise<O> {
  const waiting: Waiting<I, O>[] = [];
  let running = 0;

  const run = async (): Promise<void> => {
    await Promise.resolve(); // what else is asked for in this tick travels along
    while (waiting.length > 0) {
      const batch = waiting.splice(0, sizeOfNext(waiting, options));
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
      if (running >= options.inFlight || (running > 0 && waiting.length < options.crowd)) return;
      running++;
      void run();
    });
}

function sizeOfNext<I>(waiting: readonly { readonly input: I }[], options: BatcherOptions<I>): number {
  const { bytesOf, maxBytes = Infinity, maxBatch } = options;
  const most = Math.min(waiting.length, maxBatch);
  if (!bytesOf) return most;
  let bytes = bytesOf(waiting[0]!.input);
  let size = 1;
  while (size < most && (bytes += bytesOf(waiting[size]!.input)) <= maxBytes) size++;
  return size;
}
