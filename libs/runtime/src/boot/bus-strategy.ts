import { Server, type CustomTransportStrategy } from '@nestjs/microservices';
import type { Bus, ConsumerSpec } from '#bus';

/**
 * The inbound bus as a Nest transport: subscribing is what `listen` does, so that lifecycle hooks and shutdown are
 * Nest's own. The bus itself starts once, after every service of the process has subscribed.
 */
export class BusStrategy extends Server implements CustomTransportStrategy {
  readonly #bus: Bus;
  readonly #consumers: readonly ConsumerSpec[];

  constructor(bus: Bus, consumers: readonly ConsumerSpec[]) {
    super();
    this.#bus = bus;
    this.#consumers = consumers;
  }

  listen(callback: () => void): void {
    for (const consumer of this.#consumers) this.#bus.subscribe(consumer);
    callback();
  }

  close(): void {
    // Draining needs an order over all services of the process: run-services.ts does it.
  }

  override on(): never {
    throw new TypeError('the bus has no transport events');
  }

  override unwrap<T>(): T {
    return this.#bus as T;
  }
}
