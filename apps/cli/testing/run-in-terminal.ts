import { spawn, spawnSync } from 'node:child_process';
import { until } from '../../../libs/runtime/testing/service-harness.ts';

/** A pseudo terminal: python's, with this process's pipes on its other side. */
const PTY = `
import os, pty, select, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
watched = [fd, 0]
while True:
    ready = select.select(watched, [], [])[0]
    if fd in ready:
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if not data:
            break
        os.write(1, data)
    if 0 in ready:
        data = os.read(0, 65536)
        if data:
            os.write(fd, data)
        else:
            watched.remove(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 255)
`;

/** Whether a program can be given a terminal here. */
export const hasTerminal = (): boolean => spawnSync('python3', ['-c', 'import pty, select']).status === 0;

export interface Terminal {
  /** All that was written so far, with its control characters. */
  screen(): string;
  /** Waits for the text, anywhere behind what an earlier wait found; then types. */
  answer(question: string, keys: string): Promise<void>;
  /** Exit code. */
  readonly ended: Promise<number | null>;
}

/** Runs a program whose input and outputs are one terminal. */
export function runInTerminal(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string,
): Terminal {
  const child = spawn('python3', ['-c', PTY, ...command], {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TERM: 'xterm', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let screen = '';
  let read = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => (screen += text));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return {
    screen: () => screen,
    ended,
    async answer(question, keys) {
      const found = await until(() => {
        const at = screen.indexOf(question, read);
        if (at < 0 && child.exitCode !== null) throw new Error(`it ended without asking ${question}:\n${screen}`);
        return at < 0 ? null : at + question.length;
      }, 40_000);
      read = found;
      child.stdin.write(keys);
    },
  };
}
