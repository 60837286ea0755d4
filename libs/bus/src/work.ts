import { decodeMessage, type Message } from '#contracts';
import { CountersignError } from '#kernel';
import type { Delivery } from './bus.port.ts';

/** Bytes that are decoded at most once, however many groups read them. What comes out is frozen: no group can change it for another (B6). */
export class Body {
  readonly bytes: Buffer | null;
  #message: Message | undefined;
  #error: unknown;

  constructor(bytes: Buffer | null) {
    this.bytes = bytes;
  }

  /** @throws CountersignError INVALID_JSON or INVALID_ARGS, the same one each time */
  decode(): Message {
    if (this.#message) return this.#message;
    if (this.#error !== undefined) throw this.#error;
    try {
      if (this.bytes === null) throw new CountersignError('INVALID_JSON', 'The record has no value');
      return (this.#message = freeze(decodeMessage(this.bytes)));
    } catch (error) {
      this.#error = error;
      throw error;
    }
  }
}

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) freeze(part);
  return Object.freeze(value);
}

/** One record on its way through one group. */
export interface Work {
  readonly delivery: Delivery;
  readonly body: Body;
  /** The group is through with the record: handled, skipped, parked for a retry or dead-lettered. */
  settle(): void;
  /** True once the record belongs to another member of the group: it is dropped unhandled. */
  isStale?(): boolean;
}

/** A record that a step could not get through. `permanent`: no repetition can help. */
export interface Failed {
  readonly work: Work;
  readonly error: unknown;
  readonly permanent: boolean;
  /** How often the handler has seen the record. */
  readonly handlerAttempts: number;
}
