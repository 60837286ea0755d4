import type { ConsumerSpec, DeadLetter } from './bus.port.ts';
import type { BusLog } from './bus-log.port.ts';
import { deadLetter } from './middleware/dead-letter.ts';
import { decode } from './middleware/decode.ts';
import { hold } from './middleware/hold.ts';
import { isolate } from './middleware/isolate.ts';
import { reduce } from './middleware/reduce.ts';
import { retry, type RetryPolicy } from './middleware/retry.ts';
import type { Failed, Work } from './work.ts';

/** Handles a batch; answers the records that did not get through. It throws only when the bus is stopping (B5). */
export type Handle = (batch: readonly Work[]) => Promise<readonly Failed[]>;
export type Step = (context: RouteContext, next: Handle) => Handle;

/** What the adapters give to the steps. */
export interface RouteContext {
  readonly spec: ConsumerSpec;
  readonly retry: RetryPolicy;
  readonly log: BusLog;
  /** Aborted when the bus stops: held work is left undone, for the next start. */
  readonly stopping: AbortSignal;
  /** Makes sure that this group gets the record again, later. Resolves when that is durable. */
  park(work: Work, attempt: number, delayMs: number): Promise<void>;
  /** Resolves when the letter is durable. */
  bury(letter: DeadLetter): Promise<void>;
}

/** The visible order, outermost first. A failure travels outwards until a step takes care of it. */
const STEPS: readonly Step[] = [deadLetter, retry, decode, isolate, hold, reduce];

const end: Handle = async () => [];

/** The way of a batch through one group; afterwards each of its records is settled. */
export function createRoute(context: RouteContext): (batch: readonly Work[]) => Promise<void> {
  const handle = STEPS.reduceRight<Handle>((next, step) => step(context, next), end);
  return async (batch) => {
    await handle(batch);
    for (const work of batch) work.settle();
  };
}
