import type { ProcessRecord } from './processes.ts';

/** Progress for a person; never on stdout, which may hold one JSON document alone. */
export type Say = (line: string) => void;

export const PARTS = ['kafka', 'redis', 'postgres'] as const;
export type PartName = (typeof PARTS)[number];

/** The variable that names a part of one's own. */
export const ADDRESS_VARIABLES: Readonly<Record<PartName, string>> = {
  kafka: 'COUNTERSIGN_KAFKA_BROKERS',
  redis: 'COUNTERSIGN_REDIS_URL',
  postgres: 'COUNTERSIGN_DATABASE_URL',
};

/** Kafka, Redis or PostgreSQL, as tests, the demo and the bench see it. */
export interface StackPart {
  /** Of the server process (or of the container's); missing when the part is not ours. */
  readonly pid?: number;
  /** Stops it if it runs and starts it on the same address with the same data. */
  restart?(): Promise<void>;
  /** SIGKILL; resolves when it is gone. */
  kill?(): Promise<void>;
}

/** What is needed to find a part again from another process. */
export type PartRecord =
  | { readonly kind: 'process'; readonly address: string; readonly process: ProcessRecord }
  | { readonly kind: 'container'; readonly address: string; readonly id: string; readonly pid: number };

/** A part that we started. */
export interface StartedPart extends Required<StackPart> {
  readonly address: string;
  readonly record: PartRecord;
  stop(): Promise<void>;
}

export interface StartOptions {
  readonly directory: string;
  /** Extra `-c name=value` settings of PostgreSQL. */
  readonly postgresSettings: Readonly<Record<string, string>>;
  readonly say: Say;
}

/** Starts the named parts at once; when one fails, the others are stopped again. */
export async function startAll(
  names: readonly PartName[],
  start: (name: PartName) => Promise<StartedPart>,
): Promise<ReadonlyMap<PartName, StartedPart>> {
  const results = await Promise.allSettled(names.map(start));
  const started = new Map<PartName, StartedPart>();
  const faults: unknown[] = [];
  results.forEach((result, i) => {
    if (result.status === 'fulfilled') started.set(names[i]!, result.value);
    else faults.push(result.reason);
  });
  if (faults.length === 0) return started;
  await Promise.allSettled([...started.values()].map((part) => part.stop()));
  throw faults.length === 1 ? faults[0] : new AggregateError(faults, faults.map(String).join('\n'));
}
