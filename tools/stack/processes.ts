import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Processes that may outlive the command that started them.
 * P1 each is a process group of its own and writes to a log file, so it survives its starter and its terminal.
 * P2 a process is signalled only after its start time and command line show that the pid is still the one we recorded.
 */
export interface ProcessRecord {
  readonly pid: number;
  /** The kernel's start time of the pid; empty where there is no /proc. */
  readonly startedAt: string;
  /** A part of its command line. */
  readonly match: string;
}

const POLL_MS = 20;
/** Long: a busy machine may run the timer before it looks at the socket. */
const CONNECT_TIMEOUT_MS = 10_000;

export interface StartOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly logFile: string;
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
}

export function startDetached({ command, args, logFile, cwd, env }: StartOptions): ChildProcess {
  const log = openSync(logFile, 'a');
  try {
    const child = spawn(command, args, { cwd, env: env ?? process.env, detached: true, stdio: ['ignore', log, log] });
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
}

export const recordOf = (pid: number, match: string): ProcessRecord => ({ pid, startedAt: startedAt(pid), match });

/** P2: alive, and still the process that was recorded. */
export function isOurs({ pid, startedAt: began, match }: ProcessRecord): boolean {
  if (!alive(pid) || startedAt(pid) !== began) return false;
  return stateOf(pid) === 'Z' || commandLine(pid).includes(match);
}

/** Signals a recorded process, if it is still ours. */
export function signal(record: ProcessRecord, name: NodeJS.Signals): boolean {
  if (!isOurs(record)) return false;
  try {
    return process.kill(record.pid, name);
  } catch {
    return false; // it ended in between
  }
}

/** Asks it to end, then forces it after `graceMs`. Resolves when it is gone. */
export async function end(record: ProcessRecord, name: NodeJS.Signals, graceMs: number): Promise<void> {
  signal(record, name);
  for (const until = Date.now() + graceMs; isOurs(record); await delay(POLL_MS)) {
    if (Date.now() > until) signal(record, 'SIGKILL');
  }
}

export interface ReadyOptions {
  readonly name: string;
  readonly child: ChildProcess;
  readonly logFile: string;
  readonly timeoutMs: number;
  readonly ready: () => boolean | Promise<boolean>;
}

/** @throws Error with the end of the log, when the process ends or stays unready; it is killed then */
export async function untilReady({ name, child, logFile, timeoutMs, ready }: ReadyOptions): Promise<void> {
  let ended: string | undefined;
  child.once('error', (error) => (ended = error.message));
  child.once('exit', (code, by) => (ended = `exit ${code ?? by}`));
  const fault = (what: string): Error => new Error(`${name} ${what}: ${lastLines(logFile)}`);
  for (const until = Date.now() + timeoutMs; !(await ready()); await delay(POLL_MS)) {
    if (ended !== undefined) throw fault(`did not start (${ended})`);
    if (Date.now() < until) continue;
    child.kill('SIGKILL');
    throw fault(`is not ready after ${timeoutMs} ms`);
  }
}

/** Runs a program to its end; what it said, both streams together. Never blocks the loop: other parts start meanwhile. */
export async function run(
  command: string,
  args: readonly string[],
  env?: NodeJS.ProcessEnv,
): Promise<{ code: number | null; output: string }> {
  const child = spawn(command, args, { env: env ?? process.env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, output: error.message }));
    child.once('close', (code) => resolve({ code, output: output.trim() }));
  });
}

export function lastLines(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').slice(-6).join(' | ') : 'no log';
}

/** Whether something accepts connections there. */
export async function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ host, port, timeout: CONNECT_TIMEOUT_MS });
    const answer = (open: boolean) => (): void => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', answer(true)).once('error', answer(false)).once('timeout', answer(false));
  });
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  // a zombie is dead when its last thread is: until then its sockets may still be open
  return stateOf(pid) !== 'Z' || Number(statOf(pid)?.split(' ')[17]) > 1;
}

const stateOf = (pid: number): string | undefined => statOf(pid)?.[0];
const startedAt = (pid: number): string => statOf(pid)?.split(' ')[19] ?? '';

/** The fields after the name, from the state on. */
function statOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2);
  } catch {
    return undefined;
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
  }
}
