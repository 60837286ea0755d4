import type { TurnResult } from '#contracts';
import { callError, errorForModel } from './call-error.ts';

/** Leaves room for instructions and the toolset below the broker's limit of a message. */
const MAX_OUTPUT_BYTES = 600_000;

/** The results of one turn travel in one message: the largest are withheld, with a label, until all fit together. */
export function fitResults(results: readonly TurnResult[]): TurnResult[] {
  const sizes = results.map((result) => Buffer.byteLength(result.output));
  let total = sizes.reduce((sum, size) => sum + size, 0);
  const fitted = [...results];
  while (total > MAX_OUTPUT_BYTES) {
    const largest = sizes.indexOf(Math.max(...sizes));
    const error = callError(
      'RESULT_TOO_LARGE',
      'The results of this turn are too large together; this one is withheld. The call itself was done and is recorded.',
    );
    const output = errorForModel('succeeded', error);
    const size = Buffer.byteLength(output);
    if (sizes[largest]! <= size) break;
    total += size - sizes[largest]!;
    sizes[largest] = size;
    fitted[largest] = { ...fitted[largest]!, output };
  }
  return fitted;
}
