import { mkdir, open, readFile, truncate, type FileHandle } from 'node:fs/promises';
import path from 'node:path';

export interface JsonLines<T> {
  /** Open for appending. */
  readonly file: FileHandle;
  /** What was written before, oldest first. */
  readonly entries: T[];
}

/** A file of one JSON entry a line, created if missing. A last line that a death cut off is removed: nobody was told of it. */
export async function openJsonLines<T>(dataDir: string, name: string): Promise<JsonLines<T>> {
  await mkdir(dataDir, { recursive: true });
  const target = path.join(dataDir, name);
  const bytes = await readFile(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  });
  const whole = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
  if (whole.length < bytes.length) await truncate(target, whole.length);
  const lines = whole
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '');
  return { file: await open(target, 'a'), entries: lines.map((line) => JSON.parse(line) as T) };
}
