import type { Publisher } from '#bus';
import { MAX_MESSAGE_BYTES, outgoing, type Message } from '#contracts';
import { faults, InfrastructureError } from '#kernel';
import { HttpProblem } from '../domain/problem.ts';
import type { InFlight } from './in-flight.ts';
import type { Watch, Watchers } from './watchers.ts';

/** When the read ports are asked for the first time, and at most how seldom. */
const FIRST_ASK_MS = 3_000;
const LAST_ASK_MS = 5_000;
const ASK = Symbol('ask');

export interface Exchange<T> {
  readonly topic: string;
  readonly command: Message;
  /** Keys of the watchers. */
  readonly watched: readonly string[];
  /** 0 = only until the command is durable. */
  readonly waitMs: number;
  /** When the read ports are asked for the first time, where a short wait must not pass without it. */
  readonly firstAskMs?: number;
  /** The answer in what has come so far. May throw: the command was refused. */
  look(watch: Watch): T | undefined;
  /** True when the answer may have been given long ago: the read ports are asked at once. */
  isRepeat?(watch: Watch): boolean;
  /** The answer by the read ports, for what this process missed. May throw likewise. */
  ask(watch: Watch): Promise<T | undefined>;
  /** True when nobody waits for the answer any more. */
  readonly isGone?: (() => boolean) | undefined;
}

/**
 * One command and its answer.
 * X1 null is answered only after the command is durable; X2 an answer proves that it is, so nobody waits for both;
 * X3 a failed publish is an error even while answers are awaited: the caller repeats with its key.
 */
export class CommandExchange {
  readonly #publisher: Publisher;
  readonly #watchers: Watchers;
  readonly #inFlight: InFlight;

  constructor(publisher: Publisher, watchers: Watchers, inFlight: InFlight) {
    this.#publisher = publisher;
    this.#watchers = watchers;
    this.#inFlight = inFlight;
  }

  /** @throws HttpProblem 429, 413; InfrastructureError when the command could not be published; what `look` and `ask` throw */
  run<T>(exchange: Exchange<T>): Promise<T | null> {
    return this.#inFlight.run(async () => {
      const bytes = outgoing(exchange.topic, exchange.command);
      if (bytes.value.length > MAX_MESSAGE_BYTES) {
        throw new HttpProblem(
          413,
          'INVALID_JSON',
          `The request becomes a message of more than ${MAX_MESSAGE_BYTES} bytes`,
        );
      }
      const watch = this.#watchers.open(exchange.watched);
      try {
        faults.at?.('gateway', 'before-publish');
        const published = this.#publisher.publish([bytes]);
        published.then(() => faults.at?.('gateway', 'after-publish')).catch((error: unknown) => watch.fail(error));
        const answer = exchange.waitMs > 0 ? await this.#wait(exchange, watch) : undefined;
        if (answer !== undefined) return answer;
        await published;
        return null;
      } finally {
        watch.close();
      }
    });
  }

  async #wait<T>(exchange: Exchange<T>, watch: Watch): Promise<T | undefined> {
    const deadline = performance.now() + exchange.waitMs;
    let mayBeOld = exchange.isRepeat !== undefined;
    const look = (): T | typeof ASK | undefined =>
      exchange.look(watch) ?? (mayBeOld && exchange.isRepeat!(watch) ? ASK : undefined);
    for (let pause = exchange.firstAskMs ?? FIRST_ASK_MS; ; pause = Math.min(pause * 2, LAST_ASK_MS)) {
      const rest = deadline - performance.now();
      const found = await watch.until(look, Math.min(pause, rest));
      if (found === ASK) mayBeOld = false;
      else if (found !== undefined) return found;
      if (rest <= 0 || watch.ended || exchange.isGone?.() === true) return undefined;
      const asked = await this.#ask(exchange, watch);
      if (asked !== undefined) return asked;
    }
  }

  /** A read port that is away is asked again later. */
  async #ask<T>(exchange: Exchange<T>, watch: Watch): Promise<T | undefined> {
    try {
      return await exchange.ask(watch);
    } catch (error) {
      if (error instanceof InfrastructureError) return undefined;
      throw error;
    }
  }
}
