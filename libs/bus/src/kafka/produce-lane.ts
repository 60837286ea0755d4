import { setTimeout as wait } from 'node:timers/promises';
import type { Producer } from 'kafkajs';
import type { OutgoingMessage } from '#contracts';
import { CountersignError, InfrastructureError } from '#kernel';
import type { PartitionedMessage } from './partitioner.ts';

/**
 * The way out to the broker.
 *
 * P1 What is published while a request is under way goes into the next one: batches grow with the load, no timers.
 * P2 One request in flight: order within a key survives retries, without the idempotent producer.
 * P3 A request holds at most MAX_REQUEST_MESSAGES messages and MAX_REQUEST_BYTES bytes: a replayed backlog must fit the broker's limits.
 * P4 acks = all replicas in sync; a failure is told to each publisher whose message it held.
 */
export const MAX_REQUEST_MESSAGES = 500;
export const MAX_REQUEST_BYTES = 512 * 1024;
/** Waits before our own repetitions, in ms. */
const AGAIN_MS = [50, 200, 500];

export interface LaneMessage {
  readonly topic: string;
  readonly key: string | Buffer | null;
  readonly partitionKey?: string | undefined;
  readonly value: Buffer | null;
  readonly headers?: Readonly<Record<string, string | Buffer>> | undefined;
}

interface Ticket {
  open: number;
  resolve(): void;
  reject(error: unknown): void;
}
interface Entry {
  readonly message: LaneMessage;
  readonly ticket: Ticket;
}

export class ProduceLane {
  readonly #producer: Pick<Producer, 'sendBatch'>;
  #queue: Entry[] = [];
  #sending: Promise<void> | null = null;
  #failing = false;
  #closed = false;

  constructor(producer: Pick<Producer, 'sendBatch'>) {
    this.#producer = producer;
  }

  /** False after a request failed, until one succeeds. */
  get healthy(): boolean {
    return !this.#failing;
  }

  /** @throws InfrastructureError when the broker is away; CountersignError when it refuses this very message */
  publish(messages: readonly (OutgoingMessage | LaneMessage)[]): Promise<void> {
    if (messages.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const ticket: Ticket = { open: messages.length, resolve, reject };
      for (const message of messages) this.#queue.push({ message, ticket });
      this.#sending ??= this.#sendAll();
    });
  }

  /** No further attempts: what is under way may still end well. */
  close(): void {
    this.#closed = true;
  }

  /** Resolves when nothing is queued or under way. */
  async drain(): Promise<void> {
    while (this.#sending) await this.#sending;
  }

  async #sendAll(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve)); // what else this tick publishes comes along
    while (this.#queue.length > 0) {
      const request = this.#nextRequest();
      try {
        await this.#sendPatiently(request);
        this.#failing = false;
        for (const { ticket } of request) if (--ticket.open === 0) ticket.resolve();
      } catch (error) {
        await this.#sendApart(request, error);
      }
    }
    this.#sending = null; // in the same tick as the last look: nothing can slip in between
  }

  /** kafkajs repeats most of what may pass; it gives up at once where the metadata of a changing cluster misleads it. */
  async #sendPatiently(request: readonly Entry[]): Promise<void> {
    for (const waitMs of AGAIN_MS) {
      try {
        return await this.#send(request);
      } catch (error) {
        if (!isAway(error) || this.#closed) throw error;
        await wait(waitMs);
      }
    }
    await this.#send(request);
  }

  #nextRequest(): Entry[] {
    let bytes = 0;
    let count = 0;
    for (const { message } of this.#queue) {
      bytes += sizeOf(message);
      if (count > 0 && (bytes > MAX_REQUEST_BYTES || count >= MAX_REQUEST_MESSAGES)) break;
      count++;
    }
    if (count === this.#queue.length) {
      const all = this.#queue;
      this.#queue = [];
      return all;
    }
    return this.#queue.splice(0, count);
  }

  /** The broker may have refused one message of many: then each goes alone, and only the refused one fails. */
  async #sendApart(request: Entry[], error: unknown): Promise<void> {
    if (isAway(error) || request.length === 1) {
      this.#failing = isAway(error);
      const told = isAway(error)
        ? new InfrastructureError('the broker did not take the messages', error)
        : refused(error);
      for (const { ticket } of request) ticket.reject(told);
      return;
    }
    for (const entry of request) {
      try {
        await this.#send([entry]);
        if (--entry.ticket.open === 0) entry.ticket.resolve();
      } catch (single) {
        await this.#sendApart([entry], single);
      }
    }
  }

  async #send(request: readonly Entry[]): Promise<void> {
    const perTopic = new Map<string, PartitionedMessage[]>();
    for (const { message } of request) {
      const { topic, key, value, partitionKey, headers } = message;
      const own = {
        key,
        value,
        ...(partitionKey === undefined ? {} : { partitionKey }),
        ...(headers === undefined ? {} : { headers: { ...headers } }),
      };
      const messages = perTopic.get(topic);
      if (messages) messages.push(own);
      else perTopic.set(topic, [own]);
    }
    await this.#producer.sendBatch({
      acks: -1,
      topicMessages: [...perTopic].map(([topic, messages]) => ({ topic, messages })),
    });
  }
}

const RECORD_OVERHEAD = 64;

function sizeOf({ key, value, headers }: LaneMessage | OutgoingMessage): number {
  let bytes = RECORD_OVERHEAD + (key?.length ?? 0) + (value?.length ?? 0);
  if (headers) for (const [name, header] of Object.entries(headers)) bytes += name.length + header.length + 2;
  return bytes;
}

const REFUSALS = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'CORRUPT_MESSAGE',
  'INVALID_TOPIC_EXCEPTION',
  'UNSUPPORTED_FOR_MESSAGE_FORMAT',
]);

function isAway(error: unknown): boolean {
  for (let e = error as { type?: string; cause?: unknown } | undefined; e; e = e.cause as typeof e)
    if (e.type && REFUSALS.has(e.type)) return false;
  return !(error instanceof TypeError || error instanceof RangeError);
}

const refused = (cause: unknown): CountersignError =>
  new CountersignError('INTERNAL', 'the broker refuses the message', { cause });
