import type { Bus } from './bus.port.ts';
import type { KafkaBusOptions } from './kafka/kafka-bus.ts';
import type { MemoryBusOptions } from './memory/memory-bus.ts';

export type BusOptions =
  ({ readonly kind: 'memory' } & MemoryBusOptions) | ({ readonly kind: 'kafka' } & KafkaBusOptions);

/** The bus of a process. Only the adapter that is used gets loaded. Subscribe, then `start`. */
export async function createBus(options: BusOptions): Promise<Bus> {
  switch (options.kind) {
    case 'memory':
      return new (await import('./memory/memory-bus.ts')).MemoryBus(options);
    case 'kafka':
      return new (await import('./kafka/kafka-bus.ts')).KafkaBus(options);
  }
}
