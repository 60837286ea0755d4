import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { CountersignError } from '#kernel';

/**
 * Makes a data folder level by level: `mkdir` with `recursive` never returns below a folder that cannot have children, such as /proc.
 * @throws CountersignError INVALID_ARGS that names the folder
 */
export function makeFolder(folder: string): void {
  try {
    const found = statSync(folder, { throwIfNoEntry: false });
    if (found?.isDirectory()) return;
    if (found) throw new Error('there is a file of that name');
    makeFolder(path.dirname(folder));
    mkdirSync(folder);
  } catch (error) {
    if (error instanceof CountersignError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return; // another process made it
    const text = `The data folder ${folder} cannot be made: ${code ?? message}. Choose another one.`;
    throw new CountersignError('INVALID_ARGS', text, { cause: error });
  }
}
