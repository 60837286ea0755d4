import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createLog } from './log.ts';
import { WatchedFile } from './watched-file.ts';

describe('a file that is watched', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'watched-file-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const opened = async (name: string) => {
    const file = path.join(folder, name);
    let reads = 0;
    await writeFile(file, '[1]');
    const read = async (from: string): Promise<number[]> => {
      reads++;
      return JSON.parse(await readFile(from, 'utf8')) as number[];
    };
    const log = createLog('test', 'silent');
    const watched = await WatchedFile.open({ file, what: 'the numbers', read, count: (value) => value.length, log });
    return { file, watched, reads: () => reads };
  };

  it('counts as it is now, and is read only when it has changed', async () => {
    const { file, watched, reads } = await opened('numbers.json');
    await watched.look();
    expect([watched.current, reads()]).toEqual([[1], 1]);
    await writeFile(file, '[1, 2]');
    await watched.look();
    await watched.look();
    expect([watched.current, reads()]).toEqual([[1, 2], 2]);
  });

  it('keeps what it said while it is broken or gone; neither is read twice, and a good one counts again', async () => {
    const { file, watched, reads } = await opened('broken.json');
    await writeFile(file, '[1,');
    await watched.look();
    await watched.look();
    expect([watched.current, reads()]).toEqual([[1], 2]);
    await rm(file);
    await watched.look();
    await watched.look();
    expect([watched.current, reads()]).toEqual([[1], 3]);
    await writeFile(file, '[3]');
    await watched.look();
    expect(watched.current).toEqual([3]);
  });
});
