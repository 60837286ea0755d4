import type { MessageType } from '#contracts';
import type { Bus, ConsumerSpec, DeadLetter, Incoming } from '../src/bus.port.ts';
import type { RetryPolicy } from '../src/middleware/retry.ts';

/** Which cases apply to an adapter. */
export interface BusFeatures {
  /** The bus itself keeps messages; otherwise the publisher does, and learns that they were not handled. */
  readonly keepsMessages: boolean;
  /** Fetching stops at a high-water mark; otherwise `publish` is what waits. */
  readonly highWater: boolean;
  /** Several members share a group. */
  readonly members: boolean;
  readonly brokerRestart: boolean;
}

export interface OpenOptions {
  readonly retry?: Partial<RetryPolicy>;
  readonly highWater?: number;
  readonly onFatal?: (error: unknown) => void;
}

export interface TestBus extends Bus {
  queued(group: string): number;
}

/** A record as it comes from outside: its key may be any bytes. */
export interface RawRecord {
  readonly topic: string;
  readonly key: Buffer;
  readonly value: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface BusHarness {
  /** A bus as a process of its own would have it. */
  open(options?: OpenOptions): Promise<TestBus>;
  /** Puts records on one partition of a topic, in order, past our own publisher where the adapter allows. */
  put(bus: TestBus, records: readonly RawRecord[]): Promise<void>;
  letters(topic: string): Promise<DeadLetter[]>;
  /** How many records of the topic the group will never see again; null where there are no offsets. */
  committed(group: string, topic: string): Promise<number | null>;
  restartBroker(): Promise<void>;
  close(): Promise<void>;
}

const STEP_MS = 5;
const PATIENCE_MS = 45_000;

/** Waits for a condition; fails with its name. */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
}

export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}
export function gate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** A group that remembers what it handled. `handle` comes first and may throw or wait. */
export function recorder(
  group: string,
  topics: readonly string[],
  handle: (batch: readonly Incoming[]) => void | Promise<void> = () => undefined,
  more: Partial<ConsumerSpec> = {},
): {
  readonly spec: ConsumerSpec;
  readonly seen: Incoming[];
  readonly ids: () => string[];
  readonly batches: number[];
} {
  const seen: Incoming[] = [];
  const batches: number[] = [];
  const accepts: MessageType[] = ['FinishRun'];
  const spec: ConsumerSpec = {
    group,
    topics,
    from: 'earliest',
    accepts,
    ...more,
    reduce: async (batch) => {
      await handle(batch);
      batches.push(batch.length);
      seen.push(...batch);
    },
  };
  return { spec, seen, batches, ids: () => seen.map((incoming) => incoming.message.id) };
}

export async function started(bus: TestBus, ...specs: readonly ConsumerSpec[]): Promise<TestBus> {
  for (const spec of specs) bus.subscribe(spec);
  await bus.start();
  return bus;
}
