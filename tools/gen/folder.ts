import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** What the folder holds, against what it should: one line for each file that differs, with the reason. */
export function differences(folder: string, files: ReadonlyMap<string, string>): string[] {
  const found = new Set(entriesOf(folder));
  const lines = [...files].flatMap(([name, text]) => {
    if (!found.has(name)) return [`${name}: is missing`];
    const line = firstDifference(readFileSync(path.join(folder, name), 'utf8'), text);
    return line === null ? [] : [`${name}: is stale from line ${line}`];
  });
  return [...lines, ...[...found].filter((name) => !files.has(name)).map((name) => `${name}: is made by nothing`)];
}

/** Makes the folder hold exactly these files. */
export function writeFolder(folder: string, files: ReadonlyMap<string, string>): void {
  mkdirSync(folder, { recursive: true });
  for (const name of entriesOf(folder)) if (!files.has(name)) rmSync(path.join(folder, name), { recursive: true });
  for (const [name, text] of files) writeFileSync(path.join(folder, name), text);
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** 1 for the first line; null = none. */
function firstDifference(a: string, b: string): number | null {
  if (a === b) return null;
  const [left, right] = [a.split('\n'), b.split('\n')];
  return right.findIndex((line, i) => line !== left[i]) + 1 || right.length + 1;
}
