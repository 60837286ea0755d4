import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { InfrastructureError } from '#kernel';
import type { Environment, ServiceName } from '#runtime';

/** A service alone, or all of them in one process. */
export type ProcessName = ServiceName | 'all-in-one';

/**
 * One service as a process of its own, started again when it dies.
 * V1 one process at a time: the next one starts only after the last one ended.
 * V2 it ends by SIGTERM first, so that it drains; by SIGKILL after the grace time; with us if we exit.
 * V3 it is "ready" when /readyz says so, after every start.
 */
export type ServiceEvent =
  | { readonly type: 'started'; readonly name: ProcessName; readonly pid: number }
  | { readonly type: 'ready'; readonly name: ProcessName; readonly pid: number; readonly afterMs: number }
  | {
      readonly type: 'exited';
      readonly name: ProcessName;
      readonly pid: number;
      readonly code: number | null;
      readonly signal: NodeJS.Signals | null;
    }
  | { readonly type: 'restarting'; readonly name: ProcessName; readonly afterMs: number };

export interface ServiceProcessOptions {
  readonly name: ProcessName;
  /** Arguments of Node: flags, then the file. */
  readonly command: readonly string[];
  readonly env: Environment;
  /** Answers /healthz and /readyz. */
  readonly url: string;
  /** Where its stdout and stderr go. */
  readonly logFile: string;
  readonly readyTimeoutMs: number;
  readonly stopGraceMs: number;
  readonly onEvent: (event: ServiceEvent) => void;
}

const POLL_MS = 25;
const FIRST_BACKOFF_MS = 100;
const LAST_BACKOFF_MS = 5_000;

export class ServiceProcess {
  readonly #options: ServiceProcessOptions;
  #child: ChildProcess | undefined;
  #stopping = false;
  #backoffMs = FIRST_BACKOFF_MS;
  #watch: Promise<void> = Promise.resolve();

  constructor(options: ServiceProcessOptions) {
    this.#options = options;
  }

  get name(): ProcessName {
    return this.#options.name;
  }

  get url(): string {
    return this.#options.url;
  }

  /** Of the living process; undefined between two of them. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /**
   * Starts it and waits until it is ready; from then on it is watched.
   * @throws InfrastructureError with the end of its log when it ends before that, or is not ready in time
   */
  async start(): Promise<void> {
    const child = this.#spawn();
    const exited = exitOf(child);
    await this.#untilReady(child);
    this.#watch = this.#keepAlive(exited);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    const child = this.#child;
    if (child) {
      const exited = exitOf(child);
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), this.#options.stopGraceMs);
      await exited;
      clearTimeout(timer);
    }
    await this.#watch;
  }

  /** For the `exit` event of our own process, when nothing asynchronous runs any more. */
  killNow(): void {
    this.#child?.kill('SIGKILL');
  }

  #spawn(): ChildProcess {
    const { name, command, env, logFile, onEvent } = this.#options;
    const log = openSync(logFile, 'a');
    // A group of its own: a Ctrl-C at the terminal is for us, and we end it in order. The IPC channel tells it when we die.
    const child = spawn(process.execPath, command, {
      env: { ...env },
      detached: true,
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    const { pid } = child;
    if (pid === undefined) {
      child.once('error', () => undefined);
      throw new InfrastructureError(
        `The service ${name} could not be started: ${process.execPath} ${command.join(' ')}`,
      );
    }
    this.#child = child;
    onEvent({ type: 'started', name, pid });
    child.once('exit', (code, signal) => {
      this.#child = undefined;
      onEvent({ type: 'exited', name, pid, code, signal });
    });
    return child;
  }

  async #untilReady(child: ChildProcess): Promise<void> {
    const { name, url, readyTimeoutMs, onEvent } = this.#options;
    const began = Date.now();
    while (!(await answersReady(url))) {
      if (hasEnded(child))
        throw new InfrastructureError(
          `The service ${name} ended before it was ready (${child.signalCode ?? child.exitCode}): ${this.#lastLines()}`,
        );
      if (this.#stopping) return;
      if (Date.now() - began > readyTimeoutMs)
        throw new InfrastructureError(
          `The service ${name} is not ready after ${readyTimeoutMs} ms: ${this.#lastLines()}`,
        );
      await delay(POLL_MS);
    }
    this.#backoffMs = FIRST_BACKOFF_MS;
    onEvent({ type: 'ready', name, pid: child.pid!, afterMs: Date.now() - began });
  }

  async #keepAlive(firstExit: Promise<void>): Promise<void> {
    for (let exit = firstExit; ;) {
      await exit;
      if (this.#stopping) return;
      const afterMs = this.#backoffMs;
      this.#backoffMs = Math.min(afterMs * 2, LAST_BACKOFF_MS);
      this.#options.onEvent({ type: 'restarting', name: this.name, afterMs });
      await delay(afterMs);
      if (this.#stopping) return;
      const child = this.#spawn();
      exit = exitOf(child);
      await this.#untilReady(child).catch(() => child.kill('SIGKILL')); // its exit starts the next one
    }
  }

  #lastLines(): string {
    const { logFile } = this.#options;
    const tail = existsSync(logFile) ? readFileSync(logFile, 'utf8').trim().split('\n').slice(-8).join('\n') : '';
    return `${tail || 'it logged nothing'}\n(log: ${logFile})`;
  }
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

const exitOf = async (child: ChildProcess): Promise<void> => {
  if (!hasEnded(child)) await new Promise((resolve) => child.once('exit', resolve));
};

async function answersReady(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}
