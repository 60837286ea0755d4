import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { until } from '../../libs/runtime/testing/service-harness.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const RUN_LIMIT_MS = 60_000;
/** `npm run test:stack` has built already, and npm in between would keep signals from what it starts. */
const NPM = `npm() {
  case "$*" in
    "run -s build") ;;
    "start") exec node dist/apps/all-in-one/src/main.js ;;
    *) echo "the guide's test knows no: npm $*" >&2; return 1 ;;
  esac
}
countersign() { node bin/countersign.mjs "$@"; }
set -euo pipefail
`;

export interface GuideShellOptions {
  /** Below the repository; the reader's own files (my-…) and data go here. */
  readonly folder: string;
  readonly port: number;
  readonly env: Readonly<Record<string, string>>;
}

/** Runs the blocks of the guide in the repository's root, like a reader; only names of files and the port differ. */
export class GuideShell {
  readonly #options: GuideShellOptions;
  #shell: ChildProcess | null = null;
  #background: ChildProcess | null = null;

  constructor(options: GuideShellOptions) {
    this.#options = options;
  }

  save(file: string, text: string): void {
    const target = path.join(ROOT, this.#local(file));
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, `${text}\n`);
  }

  /** A page has a shell of its own: functions and variables of another page are not known. */
  async newPage(): Promise<void> {
    this.#shell?.stdin!.end();
    this.#shell = spawn('bash', [], { cwd: ROOT, env: this.#env(), stdio: ['pipe', 'pipe', 'pipe'] });
    this.#shell.stdin!.write(`exec 2>&1\n${NPM}`);
  }

  /** @returns what it printed. @throws Error when a command of it failed */
  async run(text: string): Promise<string> {
    const shell = this.#shell!;
    const mark = `--- ${randomUUID()} ---`;
    let printed = '';
    const listen = (data: Buffer): void => void (printed += data.toString());
    shell.stdout!.on('data', listen);
    try {
      // Commands must not read the rest of the page as their input.
      shell.stdin!.write(`{\n${this.#local(text)}\n} </dev/null\necho "${mark}"\n`);
      await until(() => {
        if (shell.exitCode !== null) throw new Error(`a command failed:\n${text}\n---\n${printed}`);
        return printed.includes(mark) ? true : undefined;
      }, RUN_LIMIT_MS);
    } finally {
      shell.stdout!.off('data', listen);
    }
    return printed.slice(0, printed.indexOf(mark));
  }

  /** Ends what ran in the background, and starts this; resolves when the gateway is ready. */
  async start(text: string): Promise<void> {
    await this.stop();
    const child = spawn('bash', ['-c', `${NPM}${this.#local(text)}`], {
      cwd: ROOT,
      env: this.#env(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#background = child;
    let printed = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data: Buffer) => (printed += data.toString()));
    let ended = false;
    child.once('exit', () => (ended = true));
    await until(async () => {
      if (ended) throw new Error(`ended at the start:\n${text}\n---\n${printed}`);
      const response = await fetch(`http://127.0.0.1:${this.#options.port}/readyz`).catch(() => null);
      return response?.ok ? true : undefined;
    }, RUN_LIMIT_MS);
  }

  /** Ends what runs in the background. */
  async stop(): Promise<void> {
    const child = this.#background;
    this.#background = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await exited;
  }

  /** Ends everything. */
  async close(): Promise<void> {
    this.#shell?.stdin!.end();
    await this.stop();
  }

  #local(text: string): string {
    const { folder, port } = this.#options;
    return text
      .replaceAll(/\.countersign\/guide|\bmy-(?=workspace|notes|loop|keys)/g, (found) =>
        found === 'my-' ? `${folder}/my-` : `${folder}/data`,
      )
      .replaceAll('8080', String(port));
  }

  #env(): NodeJS.ProcessEnv {
    return {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      COUNTERSIGN_HTTP_PORT: String(this.#options.port),
      ...this.#options.env,
    };
  }
}
