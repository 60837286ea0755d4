import { spawn } from 'node:child_process';
import path from 'node:path';

export interface CliAnswer {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const ROOT = path.resolve(import.meta.dirname, '../../..');
const MAIN = path.join(ROOT, 'apps/cli/src/main.ts');
const KEPT = ['PATH', 'HOME', 'TMPDIR'];

/** Runs the real command from its sources, with pipes, in an environment of its own. */
export function runCli(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<CliAnswer> {
  const child = spawn(process.execPath, ['--conditions=development', '--no-warnings', MAIN, ...args], {
    cwd: ROOT,
    env: {
      ...Object.fromEntries(KEPT.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []))),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}
