import type { ConsumerSpec, OffsetGap } from '../bus.port.ts';
import { dlqTopic, retryTopic } from '#contracts';
import { GroupLoop } from '../group-loop.ts';
import { Stopping, untilDone } from '../middleware/hold.ts';
import type { RetryPolicy } from '../middleware/retry.ts';
import { createRoute } from '../router.ts';
import { Body, type Work } from '../work.ts';
import type { KafkaConnection } from './kafka-client.ts';
import type { OffsetGaps } from './offset-gaps.ts';
import type { ProduceLane } from './produce-lane.ts';
import { letterHeaders, plainHeaders, readRetry, retryHeaders } from './record-headers.ts';
import { RecordConsumer, type ConsumerTimings, type FetchedRecord } from './record-consumer.ts';

/**
 * One ConsumerSpec on Kafka: one consumer per topic (or one for all, `offPath`), one queue, one reducer loop, and for
 * durable groups one consumer of the topics' `.retry` companions.
 *
 * Kafka group ids: `<group>.<topic>`, `<group>` for `offPath`, `<group>.retry`; a `latest` group's ends with the process' own id.
 */
export interface KafkaGroupOptions {
  readonly spec: ConsumerSpec;
  readonly connection: KafkaConnection;
  readonly lane: ProduceLane;
  readonly gaps: OffsetGaps;
  readonly retry: RetryPolicy;
  readonly timings: ConsumerTimings;
  /** Records queued at which fetching stops; it goes on at half of it. */
  readonly highWater: number;
  /** Names this process. */
  readonly instance: string;
  readonly onFatal: (error: Error) => void;
}

/** Retries have time: nothing waits for the first poll, and a poll ends when a record comes. */
const RETRY_TIMINGS: ConsumerTimings = { maxWaitMs: 5_000, heartbeatMs: 3_000, sessionMs: 15_000 };

export type StartOffsets = ReadonlyMap<string, ReadonlyMap<number, number>>;

export class KafkaGroup {
  readonly spec: ConsumerSpec;
  readonly #options: KafkaGroupOptions;
  readonly #loop: GroupLoop;
  readonly #stopping = new AbortController();
  readonly #waiting = new Set<NodeJS.Timeout>();
  #consumers: RecordConsumer[] = [];
  #retries: RecordConsumer | null = null;
  #room: PromiseWithResolvers<void> | null = null;

  constructor(options: KafkaGroupOptions) {
    this.#options = options;
    this.spec = options.spec;
    const { spec, lane, retry, connection } = options;
    const route = createRoute({
      spec,
      retry,
      log: connection.log,
      stopping: this.#stopping.signal,
      park: ({ delivery, body }, attempt, delayMs) => {
        const headers = retryHeaders(spec.group, delivery, attempt, Date.now() + delayMs);
        return lane.publish([{ topic: retryTopic(delivery.topic), key: delivery.key, value: body.bytes, headers }]);
      },
      bury: (letter) =>
        lane.publish([
          { topic: dlqTopic(letter.topic), key: letter.key, value: letter.value, headers: letterHeaders(letter) },
        ]),
    });
    this.#loop = new GroupLoop({
      spec,
      route,
      onError: (error) => error instanceof Stopping || options.onFatal(error as Error),
      onTaken: () => this.#giveRoom(),
    });
  }

  get queued(): number {
    return this.#loop.queued;
  }

  /** Kafka group ids that other processes share, now or later. */
  get lastingIds(): string[] {
    if (this.spec.from === 'latest') return [];
    return [...this.#parts().map(({ groupId }) => groupId), `${this.spec.group}.retry`];
  }

  #parts(): { readonly groupId: string; readonly topics: readonly string[] }[] {
    const { group, topics, from, offPath } = this.spec;
    const suffix = from === 'latest' ? `.${this.#options.instance}` : '';
    return offPath
      ? [{ groupId: group + suffix, topics }]
      : topics.map((topic) => ({ groupId: `${group}.${topic}${suffix}`, topics: [topic] }));
  }

  /** Resolves when every topic is joined. Retries join in the background. */
  async start(offsets: StartOffsets): Promise<void> {
    const { group, topics, from } = this.spec;
    const latest = from === 'latest';
    if (!latest)
      for (const part of this.#parts()) await this.#told((gaps) => gaps.beforeJoin(part.groupId, part.topics));
    this.#consumers = this.#parts().map((part) =>
      this.#consumer(
        part.groupId,
        part.topics,
        this.#options.timings,
        (r) => this.#deliver(r),
        latest ? offsets : undefined,
      ),
    );
    this.#loop.start();
    await Promise.all(this.#consumers.map((consumer) => consumer.start()));
    if (latest) return;
    this.#retries = this.#consumer(`${group}.retry`, topics.map(retryTopic), RETRY_TIMINGS, (r) =>
      this.#deliverRetries(r),
    );
    this.#retries
      .start()
      .catch((error: unknown) => this.#stopping.signal.aborted || this.#options.onFatal(error as Error));
  }

  /** Finishes what is in work (unless abandoned), commits, leaves. */
  async stop(options: { readonly abandon: boolean }): Promise<void> {
    const consumers = this.#retries ? [...this.#consumers, this.#retries] : this.#consumers;
    for (const consumer of consumers) consumer.hold();
    this.#stopping.abort();
    for (const timer of this.#waiting) clearTimeout(timer);
    const idle = this.#loop.stop();
    if (!options.abandon) await idle;
    this.#room?.resolve();
    await Promise.all(consumers.map((consumer) => consumer.stop(options)));
  }

  healthy(): boolean {
    return this.#consumers.every((consumer) => consumer.healthy());
  }

  #consumer(
    groupId: string,
    topics: readonly string[],
    timings: ConsumerTimings,
    deliver: (records: readonly FetchedRecord[]) => void,
    startAt?: StartOffsets,
  ): RecordConsumer {
    const { connection, onFatal } = this.#options;
    const room = (): Promise<void> | null => this.#whenRoom();
    return new RecordConsumer({
      connection,
      groupId,
      topics,
      timings,
      deliver,
      room,
      onFatal,
      ...(startAt ? { startAt } : {}),
      onJump: (jump) => this.#told((gaps) => gaps.afterJump(jump)),
      paceMs: this.spec.offPath?.paceMs ?? 0,
    });
  }

  /** The group's owner hears of gaps before anything behind them is read. */
  async #told(find: (gaps: OffsetGaps) => Promise<readonly OffsetGap[]>): Promise<void> {
    const { spec } = this;
    if (!spec.onGap) return;
    const { log } = this.#options.connection;
    try {
      await untilDone({ spec, log, stopping: this.#stopping.signal }, async () => {
        const gaps = await find(this.#options.gaps);
        for (const gap of gaps) log.error({ group: spec.group, ...gap }, 'bus.gap');
        if (gaps.length > 0) await spec.onGap!(gaps);
      });
    } catch (error) {
      if (!(error instanceof Stopping)) throw error;
    }
  }

  #deliver(records: readonly FetchedRecord[]): void {
    this.#loop.push(
      records.map((record) => {
        const { key, value, headers, offset } = record.message;
        const { topic, partition } = record;
        return workOf(record, { topic, partition, offset, key, value, headers: plainHeaders(headers), attempt: 1 });
      }),
    );
  }

  #deliverRetries(records: readonly FetchedRecord[]): void {
    for (const record of records) {
      const { key, value, headers } = record.message;
      const retry = readRetry(key, value, plainHeaders(headers));
      if (retry?.group !== this.spec.group) {
        record.done(); // another group's
        continue;
      }
      const timer = setTimeout(
        () => {
          this.#waiting.delete(timer);
          this.#loop.push([workOf(record, retry.delivery)]);
        },
        // Written by another process's clock: one that is hours off must not delay it for hours.
        Math.min(this.#options.retry.maxDelayMs, Math.max(0, retry.notBefore - Date.now())),
      );
      this.#waiting.add(timer);
    }
  }

  #whenRoom(): Promise<void> | null {
    if (this.#loop.queued + this.#waiting.size < this.#options.highWater) return null;
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }

  #giveRoom(): void {
    if (!this.#room || this.#loop.queued + this.#waiting.size > this.#options.highWater / 2) return;
    this.#room.resolve();
    this.#room = null;
  }
}

const workOf = (record: FetchedRecord, delivery: Work['delivery']): Work => ({
  delivery,
  body: new Body(delivery.value),
  settle: () => record.done(),
  isStale: () => record.tracked.isStale,
});
