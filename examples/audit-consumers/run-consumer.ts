import { parseArgs } from 'node:util';

export interface ConsumerArguments {
  readonly brokers: readonly string[];
  readonly group: string;
  readonly tenant: string | undefined;
  /** File that keeps the positions. */
  readonly state: string;
  /** URL that takes the records. */
  readonly to: string;
}

/** Reads the command line of a consumer. */
export function consumerArguments(name: string): ConsumerArguments {
  const { values } = parseArgs({
    options: {
      brokers: { type: 'string', default: '127.0.0.1:9092' },
      group: { type: 'string', default: name },
      tenant: { type: 'string' },
      state: { type: 'string', default: `./${name}.positions.json` },
      to: { type: 'string', default: 'http://127.0.0.1:8088/events' },
    },
  });
  return { ...values, brokers: values.brokers.split(','), tenant: values.tenant };
}

/** Ends the consumer when the process is told to end. */
export function endOnSignal(end: () => Promise<void>): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => void end().finally(() => process.exit(0)));
}
