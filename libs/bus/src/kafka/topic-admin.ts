import { setTimeout as wait } from 'node:timers/promises';
import type { Admin, ITopicConfig } from 'kafkajs';
import { dlqTopic, retryTopic } from '#contracts';
import type { BusLog } from '../bus-log.port.ts';

/** Dead letters and records that wait stay for 30 days. */
const KEEP_MS = String(30 * 24 * 3600 * 1000);
/** Else the broker refuses what comes from a process whose clock is an hour ahead, and keeps what it says by that clock. */
const BROKERS_TIME = { name: 'message.timestamp.type', value: 'LogAppendTime' };
/** Twice the broker's default: a dead letter is its record plus our headers, and must always fit. */
const MAX_BYTES = '2097152';

const READY_MS = 30_000;
const READY_STEP_MS = 50;

export interface TopicPlan {
  readonly partitions: number;
  /** Absent = the broker's default. */
  readonly replicationFactor?: number;
}

/** Creates the topics that are missing. Several processes may do it at once. */
export class TopicAdmin {
  readonly #admin: Admin;
  readonly #plan: TopicPlan;
  readonly #log: BusLog;
  readonly #known = new Set<string>();

  constructor(admin: Admin, plan: TopicPlan, log: BusLog) {
    this.#admin = admin;
    this.#plan = plan;
    this.#log = log;
  }

  has(topic: string): boolean {
    return this.#known.has(topic);
  }

  /** @param consumed topics that also need their `.retry` and `.dlq` */
  async ensure(topics: Iterable<string>, consumed: Iterable<string> = []): Promise<void> {
    const wanted = new Map<string, ITopicConfig>();
    for (const topic of topics) wanted.set(topic, this.#config(topic, this.#plan.partitions));
    for (const topic of consumed) {
      for (const companion of [retryTopic(topic), dlqTopic(topic)]) {
        wanted.set(companion, {
          ...this.#config(companion, 1),
          configEntries: [
            BROKERS_TIME,
            { name: 'retention.ms', value: KEEP_MS },
            { name: 'max.message.bytes', value: MAX_BYTES },
          ],
        });
      }
    }
    for (const topic of this.#known) wanted.delete(topic);
    if (wanted.size === 0) return;
    const existing = new Set(await this.#admin.listTopics());
    const missing = [...wanted.values()].filter(({ topic }) => !existing.has(topic));
    // kafkajs answers false where some exist already: another process was quicker.
    if (missing.length > 0) await this.#admin.createTopics({ topics: missing, waitForLeaders: false });
    await this.#untilReady([...wanted.values()]); // those that exist may have been made by another process just now
    for (const topic of wanted.keys()) this.#known.add(topic);
    if (missing.length > 0)
      this.#log.info({ count: missing.length, partitions: this.#plan.partitions }, 'bus.topics-created');
  }

  async #untilReady(topics: readonly ITopicConfig[]): Promise<void> {
    const deadline = Date.now() + READY_MS;
    while (!(await this.#ready(topics))) {
      if (Date.now() > deadline)
        throw new Error(`the broker created topics, but did not make them ready within ${READY_MS} ms`);
      await wait(READY_STEP_MS);
    }
  }

  /** Metadata names a leader a moment before it is ready to lead: so each leader is asked itself. */
  async #ready(topics: readonly ITopicConfig[]): Promise<boolean> {
    try {
      const offsets = await Promise.all(topics.map(({ topic }) => this.#admin.fetchTopicOffsets(topic)));
      return offsets.every((partitions, i) => partitions.length >= topics[i]!.numPartitions!);
    } catch {
      return false;
    }
  }

  #config(topic: string, numPartitions: number): ITopicConfig {
    const { replicationFactor } = this.#plan;
    const plan = { topic, numPartitions, configEntries: [BROKERS_TIME] };
    return { ...plan, ...(replicationFactor === undefined ? {} : { replicationFactor }) };
  }
}
