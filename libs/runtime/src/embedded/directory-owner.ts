import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CountersignError } from '#kernel';

const ownerFile = (directory: string): string => path.join(directory, 'owner.json');
/** When the process with this pid began, so that a recycled pid is not taken for the owner. */
function startedAt(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

/** @throws CountersignError INVALID_ARGS while another living process has it */
export function claimDirectory(directory: string): void {
  const mine = JSON.stringify({ pid: process.pid, startedAt: startedAt(process.pid) });
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      writeFileSync(ownerFile(directory), mine, { flag: 'wx' });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const owner = readOwner(directory);
    if (owner && alive(owner.pid) && owner.startedAt === startedAt(owner.pid)) {
      throw new CountersignError(
        'INVALID_ARGS',
        `The data directory ${directory} is in use by process ${owner.pid}. Stop it first, or choose another one with COUNTERSIGN_DATA_DIR.`,
      );
    }
    rmSync(ownerFile(directory), { force: true });
  }
}

function readOwner(directory: string): { pid: number; startedAt: string } | undefined {
  try {
    return JSON.parse(readFileSync(ownerFile(directory), 'utf8')) as { pid: number; startedAt: string };
  } catch {
    return undefined;
  }
}

export function releaseDirectory(directory: string): void {
  if (readOwner(directory)?.pid === process.pid) rmSync(ownerFile(directory), { force: true });
}

/** A zombie is dead. */
export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return process.platform !== 'linux';
  }
}
