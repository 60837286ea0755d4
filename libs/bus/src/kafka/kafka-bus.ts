import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Admin, Producer } from 'kafkajs';
import type { MessageType, OutgoingMessage } from '#contracts';
import { InfrastructureError } from '#kernel';
import type { Bus, ConsumerSpec } from '../bus.port.ts';
import { silentLog, type BusLog } from '../bus-log.port.ts';
import { DEFAULT_RETRY, type RetryPolicy } from '../middleware/retry.ts';
import { checkBrokers } from './broker-check.ts';
import { LIMIT_MS, removeGoneMembers } from './gone-members.ts';
import { createClient, type KafkaConnection } from './kafka-client.ts';
import { KafkaGroup, type StartOffsets } from './kafka-group.ts';
import { OffsetGaps } from './offset-gaps.ts';
import { partitioner } from './partitioner.ts';
import { ProduceLane } from './produce-lane.ts';
import { TopicAdmin } from './topic-admin.ts';
import { within } from './within.ts';

export interface KafkaBusOptions {
  /** host:port each. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  /** Topics to create at the start if they are missing, beside the subscribed ones. */
  readonly topics?: readonly string[];
  /** Of topics that we create; default 6. */
  readonly partitions?: number;
  /** Of topics that we create; default: the broker's. */
  readonly replicationFactor?: number;
  readonly retry?: Partial<RetryPolicy>;
  /** Milliseconds of silence after which the partitions of a dead process go to others; default 6000, the least that brokers allow. */
  readonly sessionMs?: number;
  /** Records queued in the process per group at which fetching stops; default 2000. */
  readonly highWater?: number;
  readonly log?: BusLog;
  /** Whether that client was a process that lives no more: its partitions are then taken over at once. */
  readonly isGone?: (clientId: string) => boolean;
  /** The bus cannot go on: end the process, so that it is started anew. */
  readonly onFatal?: (error: Error) => void;
}

const DEFAULT_PARTITIONS = 6;
const DEFAULT_HIGH_WATER = 2_000;
/** Messages end a poll at once; waiting long keeps idle consumers cheap. */
const MAX_WAIT_MS = 1_500;
const HEARTBEAT_MS = 1_000;
const SESSION_MS = 6_000;
const OFFSETS_LIMIT_MS = 20_000;
const OFFSETS_STEP_MS = 50;

/** The bus on Kafka, by kafkajs. What is peculiar stands in the files of its parts. */
export class KafkaBus implements Bus {
  readonly #options: KafkaBusOptions;
  readonly #connection: KafkaConnection;
  readonly #producer: Producer;
  readonly #admin: Admin;
  readonly #topics: TopicAdmin;
  readonly #lane: ProduceLane;
  readonly #groups: KafkaGroup[] = [];
  readonly #instance = randomUUID();
  #state: 'new' | 'started' | 'drained' | 'closed' | 'failed' = 'new';

  constructor(options: KafkaBusOptions) {
    this.#options = options;
    const { brokers, clientId, partitions = DEFAULT_PARTITIONS, replicationFactor, log = silentLog } = options;
    this.#connection = { brokers, clientId, log };
    const client = createClient(this.#connection);
    this.#producer = client.producer({ createPartitioner: partitioner, allowAutoTopicCreation: false });
    this.#admin = client.admin();
    this.#topics = new TopicAdmin(
      this.#admin,
      { partitions, ...(replicationFactor === undefined ? {} : { replicationFactor }) },
      log,
    );
    this.#lane = new ProduceLane(this.#producer);
  }

  subscribe<T extends MessageType>(spec: ConsumerSpec<T>): void {
    if (this.#state !== 'new') throw new Error(`group ${spec.group}: subscribe before start`);
    if (this.#groups.some((group) => group.spec.group === spec.group))
      throw new Error(`group ${spec.group} is subscribed twice`);
    this.#groups.push(
      new KafkaGroup({
        spec: spec as unknown as ConsumerSpec,
        connection: this.#connection,
        lane: this.#lane,
        gaps: new OffsetGaps(this.#admin),
        retry: { ...DEFAULT_RETRY, ...this.#options.retry },
        timings: {
          maxWaitMs: MAX_WAIT_MS,
          heartbeatMs: HEARTBEAT_MS,
          sessionMs: this.#options.sessionMs ?? SESSION_MS,
        },
        highWater: this.#options.highWater ?? DEFAULT_HIGH_WATER,
        instance: this.#instance,
        onFatal: (error) => this.#fatal(error),
      }),
    );
  }

  /** @throws Error with the address and the remedy when no broker answers or it is too old */
  async start(): Promise<void> {
    await checkBrokers(this.#options.brokers);
    await Promise.all([this.#admin.connect(), this.#producer.connect()]);
    const specs = this.#groups.map((group) => group.spec);
    const subscribed = specs.flatMap((spec) => spec.topics);
    const consumed = specs.filter((spec) => spec.from === 'earliest').flatMap((spec) => spec.topics);
    await this.#topics.ensure(new Set([...(this.#options.topics ?? []), ...subscribed]), new Set(consumed));
    const offsets = await this.#latestOffsets(specs);
    await this.#takeOver();
    this.#state = 'started';
    await Promise.all(this.#groups.map((group) => group.start(offsets)));
  }

  async publish(messages: readonly OutgoingMessage[]): Promise<void> {
    if (this.#state === 'new' || this.#state === 'closed') throw new InfrastructureError('the bus is not started');
    if (!messages.every((message) => this.#topics.has(message.topic))) await this.#createMissing(messages);
    await this.#lane.publish(messages);
  }

  async drain(): Promise<void> {
    if (this.#state !== 'started') return;
    this.#state = 'drained';
    await Promise.all(this.#groups.map((group) => group.stop({ abandon: false })));
    await this.#lane.drain();
  }

  /** Without a drain before it, work at hand is abandoned: uncommitted, so it comes again. */
  async close(): Promise<void> {
    if (this.#state === 'closed') return;
    const running = this.#state === 'started' || this.#state === 'failed';
    this.#state = 'closed';
    if (running) await Promise.all(this.#groups.map((group) => group.stop({ abandon: true })));
    this.#lane.close();
    await Promise.allSettled([this.#producer.disconnect(), this.#admin.disconnect()]);
  }

  healthy(): boolean {
    return this.#state === 'started' && this.#lane.healthy && this.#groups.every((group) => group.healthy());
  }

  /** Records that wait in this process for a group's reducer. */
  queued(group: string): number {
    return this.#groups.find((g) => g.spec.group === group)?.queued ?? 0;
  }

  async #takeOver(): Promise<void> {
    const { isGone, brokers, log = silentLog } = this.#options;
    const groupIds = this.#groups.flatMap((group) => group.lastingIds);
    if (!isGone || groupIds.length === 0) return;
    const taking = removeGoneMembers({ admin: this.#admin, brokers, groupIds, isGone }).then(
      (members) => members > 0 && log.info({ members }, 'bus.took-over'),
      (error: unknown) => log.debug({ reason: String(error) }, 'bus.not-taken-over'),
    );
    await within(LIMIT_MS, taking);
  }

  async #createMissing(messages: readonly OutgoingMessage[]): Promise<void> {
    await this.#topics.ensure(new Set(messages.map((message) => message.topic))).catch((error: unknown) => {
      throw new InfrastructureError('the topics could not be created', error);
    });
  }

  async #latestOffsets(specs: readonly ConsumerSpec[]): Promise<StartOffsets> {
    const topics = new Set(specs.filter((spec) => spec.from === 'latest').flatMap((spec) => spec.topics));
    const entries = [...topics].map(async (topic) => {
      const partitions = await this.#offsetsOf(topic);
      return [topic, new Map(partitions.map(({ partition, high }) => [partition, Number(high)]))] as const;
    });
    return new Map(await Promise.all(entries));
  }

  /** A leader that was elected a moment ago does not know it yet; kafkajs does not try again here. */
  async #offsetsOf(topic: string): Promise<{ partition: number; high: string }[]> {
    for (const deadline = Date.now() + OFFSETS_LIMIT_MS; ; await pause(OFFSETS_STEP_MS)) {
      try {
        return await this.#admin.fetchTopicOffsets(topic);
      } catch (error) {
        if (Date.now() > deadline || (error as { retriable?: boolean }).retriable !== true) throw error;
      }
    }
  }

  #fatal(error: Error): void {
    if (this.#state !== 'started') return;
    this.#state = 'failed';
    this.#connection.log.error({ error: error.name, reason: error.message }, 'bus.fatal');
    this.#options.onFatal?.(error);
  }
}
