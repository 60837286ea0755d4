import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { makeFolder } from './make-folder.ts';

describe('a data folder (G13)', () => {
  const root = mkdtempSync(path.join(os.tmpdir(), 'countersign-folder-'));
  afterAll(() => rmSync(root, { recursive: true }));

  it('is made with all above it, and may be there already', () => {
    const folder = path.join(root, 'a/b/c');
    makeFolder(folder);
    makeFolder(folder);
    expect(statSync(folder).isDirectory()).toBe(true);
  });

  it('in or in place of a file is refused by name', () => {
    const file = path.join(root, 'file');
    writeFileSync(file, '');
    expect(() => makeFolder(file)).toThrow(`The data folder ${file} cannot be made: there is a file of that name`);
    expect(() => makeFolder(path.join(file, 'x'))).toThrow(`The data folder ${file} cannot be made`);
  });
});
