import type { MessageType, OutgoingMessage } from '#contracts';
import { InfrastructureError } from '#kernel';
import type { Bus, ConsumerSpec } from '../bus.port.ts';
import { silentLog, type BusLog } from '../bus-log.port.ts';
import type { DeadLetterStore } from '../dead-letter-store.port.ts';
import { DEFAULT_RETRY, type RetryPolicy } from '../middleware/retry.ts';
import { Body, type Work } from '../work.ts';
import { MemoryGroup, MemoryWork } from './memory-group.ts';
import { Publication } from './publication.ts';

/**
 * The bus in process, for the embedded mode.
 *
 * Owns: one queue per consumer group. Does not own: durability, which lies with the publisher's outgoing rows.
 * M1 `publish` resolves when each durable group has handled the messages or buried them; `latest` groups are not waited for (B1).
 * M2 Bytes are copied on the way in and decoded once for all groups; what handlers get is frozen (B6).
 * M3 What is not settled when the bus stops makes its `publish` fail: the row stays and is sent again.
 * M4 No timers but those of retries and of held work.
 */
export interface MemoryBusOptions {
  readonly deadLetters: DeadLetterStore;
  readonly retry?: Partial<RetryPolicy>;
  readonly log?: BusLog;
  /** Faults of the bus itself; handlers' faults go through retry and dead letters. */
  readonly onError?: (error: unknown) => void;
}

const NO_HEADERS: Readonly<Record<string, Buffer>> = Object.freeze({});

export class MemoryBus implements Bus {
  readonly #options: MemoryBusOptions;
  readonly #groups: MemoryGroup[] = [];
  readonly #byTopic = new Map<string, MemoryGroup[]>();
  readonly #open = new Set<Publication>();
  readonly #stopping = new AbortController();
  readonly #ended = (publication: Publication): void => void this.#open.delete(publication);
  #state: 'new' | 'started' | 'stopped' = 'new';
  #offset = 0;

  constructor(options: MemoryBusOptions) {
    this.#options = options;
  }

  subscribe<T extends MessageType>(spec: ConsumerSpec<T>): void {
    if (this.#state !== 'new') throw new Error(`group ${spec.group}: subscribe before start`);
    if (this.#groups.some((group) => group.spec.group === spec.group))
      throw new Error(`group ${spec.group} is subscribed twice`);
    const group = new MemoryGroup(
      {
        spec: spec as unknown as ConsumerSpec,
        retry: { ...DEFAULT_RETRY, ...this.#options.retry },
        log: this.#options.log ?? silentLog,
        stopping: this.#stopping.signal,
        bury: (letter) => this.#options.deadLetters.put(letter),
      },
      (error) => this.#fault(error),
    );
    this.#groups.push(group);
    for (const topic of new Set(spec.topics)) this.#byTopic.set(topic, [...(this.#byTopic.get(topic) ?? []), group]);
  }

  async start(): Promise<void> {
    this.#state = 'started';
    for (const group of this.#groups) group.start();
  }

  /** @throws InfrastructureError when the bus stopped before the messages were handled */
  publish(messages: readonly OutgoingMessage[]): Promise<void> {
    if (this.#state === 'stopped') return Promise.reject(stopped());
    const publication = new Publication(this.#ended);
    const settle = (): void => publication.settle();
    const perGroup = new Map<MemoryGroup, Work[]>();
    for (const message of messages) {
      const groups = this.#byTopic.get(message.topic);
      if (!groups) continue;
      const body = new Body(Buffer.from(message.value));
      const { topic, headers } = message;
      const delivery = {
        topic,
        partition: 0,
        offset: String(this.#offset++),
        key: Buffer.from(message.key),
        value: body.bytes,
        headers: headers ? bytesOf(headers) : NO_HEADERS,
        attempt: 1,
      };
      for (const group of groups) {
        const durable = group.spec.from !== 'latest';
        if (durable) publication.expect();
        const work = new MemoryWork(delivery, body, durable ? settle : nothing);
        const works = perGroup.get(group);
        if (works) works.push(work);
        else perGroup.set(group, [work]);
      }
    }
    for (const [group, works] of perGroup) group.push(works);
    if (publication.open === 0) return Promise.resolve();
    this.#open.add(publication);
    return publication.settled;
  }

  async drain(): Promise<void> {
    this.#state = 'stopped';
    this.#stopping.abort();
    await Promise.all(this.#groups.map((group) => group.stop()));
    for (const publication of this.#open) publication.fail(stopped());
  }

  async close(): Promise<void> {
    if (this.#state === 'stopped') return;
    this.#state = 'stopped';
    this.#stopping.abort();
    for (const group of this.#groups) void group.stop();
    for (const publication of this.#open) publication.fail(stopped());
  }

  healthy(): boolean {
    return this.#state === 'started';
  }

  /** Messages that wait for a group's reducer. */
  queued(group: string): number {
    return this.#groups.find((g) => g.spec.group === group)?.queued ?? 0;
  }

  #fault(error: unknown): void {
    this.#options.log?.error({ error: error instanceof Error ? error.name : typeof error }, 'bus.fault');
    this.#options.onError?.(error);
  }
}

const nothing = (): void => undefined;
const stopped = (): InfrastructureError => new InfrastructureError('the bus is stopped');
const bytesOf = (headers: Readonly<Record<string, string>>): Record<string, Buffer> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Buffer.from(value)]));
