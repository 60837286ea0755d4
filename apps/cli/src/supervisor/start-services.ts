import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import path from 'node:path';
import { type Environment, freePort } from '#runtime';
import { type ProcessName, type ServiceEvent, ServiceProcess } from './service-process.ts';

/** Arguments of Node for a process: flags, then the file. */
export type ProcessCommand = (name: ProcessName) => readonly string[];

export interface StartServicesOptions {
  readonly names: readonly ProcessName[];
  /** What all services get: addresses of Kafka, Redis, PostgreSQL, pools, … and PATH. Internal ports, URLs and token are added. */
  readonly env: Environment;
  /** What one service gets on top. */
  readonly envFor?: (name: ProcessName) => Environment;
  /** Created if missing: one `<service>.log` each. */
  readonly logDirectory: string;
  readonly onEvent?: (event: ServiceEvent) => void;
  /** Arguments of Node for a service; the built `main.js` if not given. */
  readonly command?: ProcessCommand;
  readonly readyTimeoutMs?: number;
  readonly stopGraceMs?: number;
}

export interface RunningService {
  readonly name: ProcessName;
  /** Undefined while it is being started again. */
  readonly pid: number | undefined;
  /** Its internal address: health and read port. */
  readonly url: string;
}

export interface RunningServices {
  /** As they are now: pids change when a service is started again. */
  list(): RunningService[];
  /** Ends all of them; resolves when the last one is gone. Safe to call twice. */
  stop(): Promise<void>;
}

/** Calls make much short-lived garbage: a larger young generation (MiB) is collected less often. */
export const NODE_FLAGS = ['--enable-source-maps', '--max-semi-space-size=32'];

const READY_TIMEOUT_MS = 60_000;
/** Longer than a service's own limit for its drain. */
const STOP_GRACE_MS = 30_000;

/**
 * Starts each service as a Node process of its own and keeps it running until `stop`.
 * @throws Error with the end of the log of the service that did not become ready; the others are ended then
 */
export async function startServices(options: StartServicesOptions): Promise<RunningServices> {
  mkdirSync(options.logDirectory, { recursive: true });
  const ports = new Map<ProcessName, number>();
  for (const name of options.names) ports.set(name, await freePort());
  const shared: Environment = {
    COUNTERSIGN_INTERNAL_TOKEN: randomBytes(24).toString('base64url'),
    ...compileCache(),
    ...options.env,
    COUNTERSIGN_INTERNAL_HOST: '127.0.0.1',
    // in one process, the services ask each other directly
    ...Object.fromEntries(
      [...ports].filter(([name]) => name !== 'all-in-one').map(([name, port]) => [urlVariable(name), addressOf(port)]),
    ),
  };
  const processes = [...ports].map(([name, port]) => processOf(name, port, shared, options));
  const onExit = (): void => processes.forEach((service) => service.killNow());
  process.on('exit', onExit);
  let stopping: Promise<void> | undefined;
  const stopAll = async (): Promise<void> => {
    await Promise.all(processes.map((service) => service.stop()));
    process.removeListener('exit', onExit);
  };
  const stop = (): Promise<void> => (stopping ??= stopAll());
  try {
    await Promise.all(processes.map((service) => service.start()));
  } catch (error) {
    await stop();
    throw error;
  }
  return { list: () => processes.map(({ name, pid, url }) => ({ name, pid, url })), stop };
}

function processOf(
  name: ProcessName,
  port: number,
  shared: Environment,
  options: StartServicesOptions,
): ServiceProcess {
  const env = { ...shared, COUNTERSIGN_INTERNAL_PORT: String(port), ...options.envFor?.(name) };
  return new ServiceProcess({
    name,
    command: (options.command ?? builtMain)(name),
    env,
    url: addressOf(port),
    logFile: path.join(options.logDirectory, `${name}.log`),
    readyTimeoutMs: options.readyTimeoutMs ?? READY_TIMEOUT_MS,
    stopGraceMs: options.stopGraceMs ?? STOP_GRACE_MS,
    onEvent: options.onEvent ?? (() => undefined),
  });
}

const addressOf = (port: number): string => `http://127.0.0.1:${port}`;
const urlVariable = (name: ProcessName): string => `COUNTERSIGN_${name.toUpperCase().replaceAll('-', '_')}_URL`;

/** dist/apps/<service>/src/main.js, whether this file runs from the sources or from dist. */
function builtMain(name: ProcessName): readonly string[] {
  const apps = path.resolve(import.meta.dirname, '../../..');
  const built = path.basename(path.dirname(apps)) === 'dist' ? apps : path.join(apps, '../dist/apps');
  return [...NODE_FLAGS, path.join(built, name, 'src/main.js')];
}

/** Where this process keeps its compiled code, if it does, the services keep theirs. */
function compileCache(): Environment {
  const directory = getCompileCacheDir(); // ends with a folder of this version of Node.js
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: path.dirname(directory) };
}
