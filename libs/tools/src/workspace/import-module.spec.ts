import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadWorkspaceWithin } from './load-workspace.ts';

describe('a workspace module that does not come to an end', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(path.join(os.tmpdir(), 'import-module-'));
    mkdirSync(path.join(root, 'tools'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('is told by its name and what to mend, and does not hold up the start (G13)', async () => {
    writeFileSync(path.join(root, 'tools/endless.mjs'), 'await new Promise(() => undefined);\n');
    await expect(loadWorkspaceWithin(root, 20)).rejects.toThrow(
      'tools/endless.mjs: its import did not end within 0.02 s; remove the endless await at its top level',
    );
  });

  it('cannot end the process without a word: file, line and an exit code that is not 0 (G13)', () => {
    writeFileSync(path.join(root, 'tools/leaves.mjs'), '// first\nprocess.exit(0);\n');
    const loader = pathToFileURL(path.join(import.meta.dirname, 'load-workspace.ts')).href;
    const code = `await (await import(${JSON.stringify(loader)})).loadWorkspace(${JSON.stringify(root)})`;
    const ended = spawnSync(process.execPath, ['--conditions=development', '--no-warnings', '-e', code], {
      cwd: path.resolve(import.meta.dirname, '../../../..'),
      encoding: 'utf8',
    });
    expect(ended.stderr).toBe(
      'tools/leaves.mjs: line 2: it ended the process (process.exit(0)) while it was imported; remove that call\n',
    );
    expect(ended.status).toBe(1);
  });
});
