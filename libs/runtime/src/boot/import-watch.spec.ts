import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

describe('the process of a service that loads a workspace', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(path.join(os.tmpdir(), 'import-watch-'));
    mkdirSync(path.join(root, 'tools'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const load = (limitMs: number) => {
    const at = (file: string): string => JSON.stringify(pathToFileURL(path.resolve(import.meta.dirname, file)).href);
    const code = `
      (await import(${at('import-watch.ts')})).watchImports(${limitMs});
      const { loadWorkspace } = await import(${at('../../../tools/src/index.ts')});
      console.log((await loadWorkspace(${JSON.stringify(root)})).tools.length);`;
    return spawnSync(process.execPath, ['--conditions=development', '--no-warnings', '-e', code], {
      cwd: path.resolve(import.meta.dirname, '../../../..'),
      encoding: 'utf8',
    });
  };

  it('is killed by the endless loop of a module, and stderr names the file and the remedy (G13)', () => {
    writeFileSync(path.join(root, 'tools/busy.mjs'), 'for (;;);\n');
    const ended = load(1_000);
    expect(ended.stderr).toMatch(/tools\/busy\.mjs: its import has kept the process busy .*remove the endless loop/);
    expect(ended.signal).toBe('SIGKILL');
  });

  it('is left alone by a module that only waits, and ends by itself', () => {
    writeFileSync(
      path.join(root, 'tools/slow.mjs'),
      'await new Promise((resolve) => setTimeout(resolve, 300));\nexport default 1;\n',
    );
    const ended = load(50);
    expect(ended.signal).toBeNull();
    expect(ended.stderr).toContain('slow.mjs');
    expect(ended.stderr).not.toContain('busy');
  });
});
