import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  chmodSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { reachableByOthers } from '../../libs/runtime/src/embedded/postgres-binaries.ts';
import { containerRuns, removeContainer } from './containers.ts';
import { PARTS, type PartName, type PartRecord } from './part.ts';
import { end, isOurs, type ProcessRecord } from './processes.ts';
import { projectFile } from './project.ts';

/**
 * What runs, written down, so that another process can use it, stop it, or clean up after a starter that was killed.
 * S1 `state.json` is the stack that `stack:up` left running; it has no owner and stays until `stack:down`.
 * S2 `opened-<pid>.json` is a stack that lives as long as the process that opened it; once that is dead, anyone may end it.
 * S3 files are written whole (rename) and only for their owner: addresses hold passwords.
 */
export interface StackState {
  readonly owner: ProcessRecord | null;
  /** Data and logs of the parts; removed with the stack. */
  readonly directory: string;
  readonly parts: Readonly<Partial<Record<PartName, PartRecord>>>;
}

const GRACE_MS = 20_000;
const FOLDER = projectFile('.countersign', 'stack');
export const STAYING = path.join(FOLDER, 'state.json');
export const openedFile = (pid: number): string => path.join(FOLDER, `opened-${pid}.json`);

/** A new folder for the parts' data; PostgreSQL, when root starts it, runs as another user who must reach it. */
export function newDataDirectory(): string {
  mkdirSync(FOLDER, { recursive: true });
  const usable = process.getuid?.() !== 0 || reachableByOthers(FOLDER);
  const directory = mkdtempSync(usable ? path.join(FOLDER, 'data-') : path.join(os.tmpdir(), 'countersign-stack-'));
  chmodSync(directory, 0o755);
  return directory;
}

export function writeState(file: string, state: StackState): void {
  mkdirSync(path.dirname(file), { recursive: true });
  const partial = `${file}.${process.pid}`;
  writeFileSync(partial, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(partial, file);
}

export function readState(file: string): StackState | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as StackState;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`${file} cannot be read: remove it, and end what still runs by hand.`, { cause: error });
  }
}

/** The stack that `stack:up` left running, if all of its parts are still alive. */
export async function readStaying(): Promise<StackState | undefined> {
  const state = readState(STAYING);
  if (!state) return undefined;
  const alive = await Promise.all(Object.values(state.parts).map(partRuns));
  return alive.length > 0 && alive.every(Boolean) ? state : undefined;
}

/** Ends the parts that are still ours, in the order in which they depend on each other, and forgets the stack. */
export async function endState(file: string, state: StackState): Promise<void> {
  await Promise.all(PARTS.map((name) => endPart(name, state.parts[name])));
  rmSync(state.directory, { recursive: true, force: true });
  rmSync(file, { force: true });
}

/** S2: ends what dead openers left. */
export async function sweepOrphans(): Promise<void> {
  for (const file of openedFiles()) {
    const state = readState(file);
    if (state && !(state.owner && isOurs(state.owner))) await endState(file, state);
  }
}

function openedFiles(): string[] {
  try {
    return readdirSync(FOLDER)
      .filter((name) => /^opened-\d+\.json$/.test(name))
      .map((name) => path.join(FOLDER, name));
  } catch {
    return []; // nothing was ever started
  }
}

const partRuns = async (record: PartRecord): Promise<boolean> =>
  record.kind === 'process' ? isOurs(record.process) : containerRuns(record.id);

async function endPart(name: PartName, record: PartRecord | undefined): Promise<void> {
  if (!record) return;
  if (record.kind === 'container') await removeContainer(record.id);
  // PostgreSQL's fast shutdown cuts open sessions; SIGTERM would wait for them
  else await end(record.process, name === 'postgres' ? 'SIGINT' : 'SIGTERM', GRACE_MS);
}
