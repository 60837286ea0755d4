import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { runCli } from '../../testing/run-cli.ts';

/** By the doctor, because a workspace is read in a process of its own, from the sources. */
describe('a workspace that is checked', () => {
  let root: string;
  const faults = async (files: Readonly<Record<string, string>>): Promise<string[]> => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
      writeFileSync(path.join(root, name), text);
    }
    const { stdout } = await runCli(['doctor', '--json', '--workspace', root, '--url', 'http://127.0.0.1:2']);
    const { findings } = JSON.parse(stdout) as { findings: { check: string; state: string; found: string }[] };
    return findings
      .filter(({ check, state }) => check.startsWith('workspace ') && state === 'wrong')
      .map(({ found }) => found);
  };
  beforeEach(() => (root = mkdtempSync(path.join(os.tmpdir(), 'countersign-check-'))));
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('names the file of a tool that ends the process, and the line of a bad policy (G13)', async () => {
    expect(await faults({ 'tools/leaves.mjs': '\nprocess.exit(0);\n' })).toEqual([
      'tools/leaves.mjs: line 2: it ended the process (process.exit(0)) while it was imported; remove that call',
    ]);
    rmSync(path.join(root, 'tools'), { recursive: true });
    expect(await faults({ 'policies/p.cedar': 'permit(principal, action, resource) when { 1 + };' })).toEqual([
      expect.stringMatching(/^policies\/p\.cedar:1: /),
    ]);
  });
});
