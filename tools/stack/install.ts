import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/** Full path of a program on PATH, or undefined. */
export function find(program: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/usr/bin', '/usr/local/bin'];
  return folders.map((folder) => path.join(folder, program)).find(executable);
}

function executable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export interface Need {
  readonly program: string;
  /** Debian's packages that bring it. */
  readonly packages: readonly string[];
  /** What else helps, as the end of a sentence after "or". */
  readonly otherwise: string;
}

let listsFresh = false;

/**
 * The program's path; on a Debian machine as root, a missing one is installed.
 * @throws Error that names the remedy
 */
export function need({ program, packages, otherwise }: Need, say: (line: string) => void): string {
  const found = find(program);
  if (found) return found;
  const command = `apt-get install ${packages.join(' ')}`;
  if (process.getuid?.() === 0 && find('apt-get')) {
    say(`${program} is missing: ${command}`);
    aptInstall(packages);
    const installed = find(program);
    if (installed) return installed;
  }
  throw new Error(
    `The program ${program} is missing. Install it (on Debian or Ubuntu, as root: ${command}), or ${otherwise}.`,
  );
}

function aptInstall(packages: readonly string[]): void {
  if (!listsFresh) apt(['update']);
  listsFresh = true;
  apt(['install', '-y', '--no-install-recommends', ...packages]);
}

function apt(args: readonly string[]): void {
  const done = spawnSync('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=180', ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    // RUNLEVEL: a package's own service (Debian's Redis on 6379) is not started
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
  });
  if (done.status !== 0)
    throw new Error(
      `apt-get ${args.join(' ')} failed: ${(done.stderr || done.stdout || String(done.error)).trim().slice(-600)}`,
    );
}
