import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { dockerAnswers, startContainer } from './containers.ts';
import { startNative } from './native.ts';
import {
  ADDRESS_VARIABLES,
  PARTS,
  type PartName,
  type Say,
  type StackPart,
  type StartedPart,
  startAll,
} from './part.ts';
import { recordOf, signal } from './processes.ts';
import { newDataDirectory, openedFile, readStaying, type StackState, sweepOrphans, writeState } from './state.ts';

/**
 * Kafka, Redis and PostgreSQL for tests, the demo and the bench. Each part comes from the first of:
 * its address in the environment; the stack that `stack:up` left running; Docker; packages of this machine.
 * What `openStack` started ends with `close`, with a signal or when the process exits; what it found stays.
 */
export interface Stack {
  /** `host:port`, separated by commas. */
  readonly kafkaBrokers: string;
  readonly redisUrl: string;
  readonly databaseUrl: string;
  /** Whether this call started any part. */
  readonly startedHere: boolean;
  readonly parts: Readonly<Record<PartName, StackPart>>;
  /** Ends what this call started and removes its data. Safe to call twice. */
  close(): Promise<void>;
}

export type Via = 'docker' | 'native';

export interface OpenOptions {
  /** Progress; stderr if not given. */
  readonly say?: Say;
  /** `leave`: the caller handles SIGINT and SIGTERM and calls `close`. Default `close`. */
  readonly signals?: 'close' | 'leave';
  /** Settings of a PostgreSQL that is started here, e.g. `shared_preload_libraries`. */
  readonly postgresSettings?: Readonly<Record<string, string>>;
  /** Without it: Docker when a daemon answers, else native; `STACK_VIA` in the environment says so, too. */
  readonly via?: Via;
  /** `false`: do not use the stack that `stack:up` left running. */
  readonly reuse?: boolean;
}

/** @throws Error that names the missing piece and the remedy */
export async function openStack(options: OpenOptions = {}): Promise<Stack> {
  const say = options.say ?? ((line) => void process.stderr.write(`${line}\n`));
  await sweepOrphans();
  const found = new Map<PartName, { address: string; part: StackPart }>();
  for (const name of PARTS) {
    const address = process.env[ADDRESS_VARIABLES[name]];
    if (address) found.set(name, { address, part: {} });
  }
  const staying = options.reuse === false ? undefined : await readStaying();
  for (const name of PARTS) {
    const record = staying?.parts[name];
    if (!record || found.has(name)) continue;
    found.set(name, {
      address: record.address,
      part: { pid: record.kind === 'process' ? record.process.pid : record.pid },
    });
  }
  const missing = PARTS.filter((name) => !found.has(name));
  if (missing.length === 0) return stackOf(found, new Map(), async () => undefined);

  const directory = newDataDirectory();
  const started = await startParts(missing, directory, options, say);
  const close = owned(directory, started, options.signals ?? 'close');
  return stackOf(found, started, close);
}

/** Starts the parts by Docker or natively; on failure nothing of it is left. */
export async function startParts(
  names: readonly PartName[],
  directory: string,
  options: OpenOptions,
  say: Say,
): Promise<ReadonlyMap<PartName, StartedPart>> {
  const via =
    options.via ?? (process.env.STACK_VIA as Via | undefined) ?? ((await dockerAnswers()) ? 'docker' : 'native');
  const start = via === 'docker' ? startContainer : startNative;
  const startOptions = { directory, postgresSettings: options.postgresSettings ?? {}, say };
  try {
    return await startAll(names, (name) => start(name, startOptions));
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
}

export function stateOf(
  owner: StackState['owner'],
  directory: string,
  parts: ReadonlyMap<PartName, StartedPart>,
): StackState {
  return { owner, directory, parts: Object.fromEntries([...parts].map(([name, part]) => [name, part.record])) };
}

function stackOf(
  found: ReadonlyMap<PartName, { address: string; part: StackPart }>,
  started: ReadonlyMap<PartName, StartedPart>,
  close: () => Promise<void>,
): Stack {
  const address = (name: PartName): string => (found.get(name) ?? started.get(name))!.address;
  const part = (name: PartName): StackPart => found.get(name)?.part ?? started.get(name)!;
  return {
    kafkaBrokers: address('kafka'),
    redisUrl: address('redis'),
    databaseUrl: address('postgres'),
    startedHere: started.size > 0,
    parts: { kafka: part('kafka'), redis: part('redis'), postgres: part('postgres') },
    close,
  };
}

/** Binds started parts to this process: an exit, a signal or `close` ends them; a `kill -9` leaves a record to sweep by. */
function owned(
  directory: string,
  parts: ReadonlyMap<PartName, StartedPart>,
  signals: 'close' | 'leave',
): () => Promise<void> {
  const file = openedFile(process.pid);
  const write = (): void => writeState(file, stateOf(recordOf(process.pid, 'node'), directory, parts));
  write();
  for (const part of parts.values()) {
    const restart = part.restart;
    part.restart = async () => {
      await restart();
      write(); // its pid changed
    };
  }
  let closing: Promise<void> | undefined;
  const stopAll = async (): Promise<void> => {
    const results = await Promise.allSettled([...parts.values()].map((part) => part.stop()));
    detach();
    rmSync(directory, { recursive: true, force: true });
    rmSync(file, { force: true });
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  };
  const close = (): Promise<void> => (closing ??= stopAll());
  const onExit = (): void => killNow(parts);
  const onSignal = (name: NodeJS.Signals): void => void close().finally(() => process.kill(process.pid, name));
  const detach = (): void => {
    process.removeListener('exit', onExit);
    process.removeListener('SIGINT', onSignal).removeListener('SIGTERM', onSignal);
  };
  process.on('exit', onExit);
  if (signals === 'close') process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  return close;
}

/** The process is ending and nothing asynchronous runs any more; the data is swept by the next opener. */
function killNow(parts: ReadonlyMap<PartName, StartedPart>): void {
  for (const [name, { record }] of parts) {
    // PostgreSQL's immediate shutdown takes its backends and shared memory along
    if (record.kind === 'process') signal(record.process, name === 'postgres' ? 'SIGQUIT' : 'SIGKILL');
    else spawnSync('docker', ['rm', '-f', '-v', record.id], { stdio: 'ignore' });
  }
}
