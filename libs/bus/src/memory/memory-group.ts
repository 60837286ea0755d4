import { createHash } from 'node:crypto';
import type { ConsumerSpec } from '../bus.port.ts';
import { GroupLoop } from '../group-loop.ts';
import { Stopping } from '../middleware/hold.ts';
import { createRoute, type RouteContext } from '../router.ts';
import type { Work } from '../work.ts';

interface Parked {
  readonly timer: NodeJS.Timeout;
  /** Repeats of the same bytes that came meanwhile (an outbox sends again what is not acknowledged): they share its fate. */
  readonly repeats: Work[];
}

/** One consumer group of the bus in process: its queue, its loop, its parked retries. */
export class MemoryGroup {
  readonly spec: ConsumerSpec;
  readonly #loop: GroupLoop;
  readonly #parked = new Map<string, Parked>();

  constructor(context: Omit<RouteContext, 'park'>, onError: (error: unknown) => void) {
    this.spec = context.spec;
    const route = createRoute({
      ...context,
      park: async (work, attempt, delayMs) => this.#park(work, attempt, delayMs),
    });
    this.#loop = new GroupLoop({
      spec: context.spec,
      route,
      onError: (error) => error instanceof Stopping || onError(error),
    });
  }

  get queued(): number {
    return this.#loop.queued;
  }

  push(works: readonly Work[]): void {
    this.#loop.push(this.#parked.size === 0 ? works : works.filter((work) => !this.#joinParked(work)));
  }

  start(): void {
    this.#loop.start();
  }

  async stop(): Promise<void> {
    for (const { timer } of this.#parked.values()) clearTimeout(timer);
    await this.#loop.stop();
    for (const { timer } of this.#parked.values()) clearTimeout(timer);
    this.#parked.clear();
  }

  /** The record stays unsettled until its last attempt; the batch that it failed in settles a stand-in. */
  #park(work: Work, attempt: number, delayMs: number): void {
    const settle = (work as MemoryWork).takeOver();
    const identity = identityOf(work);
    const repeats: Work[] = [];
    const again = (): void => {
      this.#parked.delete(identity);
      const both = (): void => {
        settle();
        for (const repeat of repeats) repeat.settle();
      };
      this.#loop.push([new MemoryWork({ ...work.delivery, attempt }, work.body, both)]);
    };
    this.#parked.set(identity, { timer: setTimeout(again, delayMs), repeats });
  }

  #joinParked(work: Work): boolean {
    const parked = this.#parked.get(identityOf(work));
    parked?.repeats.push(work);
    return parked !== undefined;
  }
}

function identityOf({ delivery, body }: Work): string {
  const hash = createHash('sha256').update(delivery.topic).update('\0');
  if (delivery.key) hash.update(delivery.key);
  return hash
    .update('\0')
    .update(body.bytes ?? '')
    .digest('base64');
}

export class MemoryWork implements Work {
  readonly delivery: Work['delivery'];
  readonly body: Work['body'];
  #settle: () => void;

  constructor(delivery: Work['delivery'], body: Work['body'], settle: () => void) {
    this.delivery = delivery;
    this.body = body;
    this.#settle = settle;
  }

  settle(): void {
    this.#settle();
  }

  /** Takes the duty to settle away from the batch. */
  takeOver(): () => void {
    const settle = this.#settle;
    this.#settle = () => undefined;
    return settle;
  }
}
