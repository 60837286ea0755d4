import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { run } from './processes.ts';

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

/**
 * The program's path; on a Debian machine as root, a missing one is installed.
 * @throws Error that names the remedy
 */
export async function need({ program, packages, otherwise }: Need, say: (line: string) => void): Promise<string> {
  const found = find(program);
  if (found) return found;
  const command = `apt-get install ${packages.join(' ')}`;
  if (process.getuid?.() === 0 && find('apt-get')) {
    say(`${program} is missing: ${command}`);
    await aptInstall(packages);
    const installed = find(program);
    if (installed) return installed;
  }
  throw new Error(
    `The program ${program} is missing. Install it (on Debian or Ubuntu, as root: ${command}), or ${otherwise}.`,
  );
}

/** One at a time: apt refuses two. */
let lastInstall: Promise<void> = Promise.resolve();
let listsFresh = false;

async function aptInstall(packages: readonly string[]): Promise<void> {
  const install = async (): Promise<void> => {
    if (!listsFresh) await apt(['update']);
    listsFresh = true;
    await apt(['install', '-y', '--no-install-recommends', ...packages]);
  };
  lastInstall = lastInstall.then(install, install);
  return lastInstall;
}

async function apt(args: readonly string[]): Promise<void> {
  // RUNLEVEL: a package's own service (Debian's Redis on 6379) is not started
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const { code, output } = await run('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=180', ...args], env);
  if (code !== 0) throw new Error(`apt-get ${args.join(' ')} failed: ${output.slice(-600)}`);
}
