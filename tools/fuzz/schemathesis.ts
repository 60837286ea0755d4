import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { projectFile } from '../stack/project.ts';

const VERSION = '4.32.5';

/** The program: one on the PATH, else one in a Python environment of our own. @throws Error with the remedy */
export function findSchemathesis(say: (line: string) => void): string {
  if (answers('schemathesis')) return 'schemathesis';
  const folder = projectFile('node_modules/.cache/schemathesis');
  const own = path.join(folder, 'bin/schemathesis');
  if (existsSync(own) && answers(own)) return own;
  if (!answers('python3'))
    throw new Error(
      `schemathesis is not on the PATH, and without python3 it cannot be installed: install one of them.`,
    );
  say(`installing schemathesis ${VERSION} into ${folder}`);
  mkdirSync(folder, { recursive: true });
  run('python3', ['-m', 'venv', folder], 'python3 cannot make environments: install python3-venv');
  const remedy = 'pip could not install schemathesis: give a package index, or install it yourself';
  run(path.join(folder, 'bin/pip'), ['install', '--quiet', `schemathesis==${VERSION}`], remedy);
  return own;
}

const answers = (program: string): boolean => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;

function run(program: string, args: readonly string[], remedy: string): void {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${remedy}.\n${stderr}`);
}
