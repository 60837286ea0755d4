import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { until } from '../../libs/runtime/testing/service-harness.ts';
import { STAYING } from '../../tools/stack/state.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const CLI = path.join(ROOT, 'bin/countersign.mjs');

interface DemoDocument {
  readonly mode: string;
  readonly services: readonly { readonly name: string; readonly pid: number }[];
  readonly runs: readonly { readonly example: string; readonly status: string; readonly outcome: string }[];
  readonly effects: Readonly<Record<string, { readonly count: number }>>;
  readonly audit: { readonly records: number; readonly verified: boolean };
}

/** The commands that the README begins with, as a newcomer types them; without a key, a terminal or anything that runs already. */
describe('the commands of the README', () => {
  let folder: string;
  let child: ChildProcess | undefined;
  beforeEach(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-readme-'));
    chmodSync(folder, 0o755);
  });
  afterEach(async () => {
    if (child && child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    rmSync(folder, { recursive: true, force: true });
  });

  function start(program: string, args: readonly string[]): ChildProcess {
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(COUNTERSIGN|TEST|OPENAI)_/.test(name)),
    );
    return (child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] }));
  }
  async function outputOf(
    program: string,
    args: readonly string[],
  ): Promise<{ code: number; stdout: string; stderr: string }> {
    const running = start(program, args);
    let [stdout, stderr] = ['', ''];
    running.stdout!.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    running.stderr!.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const [code] = (await once(running, 'close')) as [number];
    return { code, stdout, stderr };
  }

  it.each(['embedded', 'stack'])(
    'demo --mode %s: three completed runs, each effect once, an audit that verifies',
    async (mode) => {
      const { code, stdout, stderr } = await outputOf(process.execPath, [CLI, 'demo', '--mode', mode, '--json']);
      expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
      const document = JSON.parse(stdout) as DemoDocument;
      expect(document.mode).toBe(mode);
      expect(document.services).toHaveLength(mode === 'stack' ? 7 : 1);
      expect(document.runs.map(({ status, outcome }) => [status, outcome])).toEqual(
        Array.from({ length: 3 }, () => ['completed', 'all_succeeded']),
      );
      expect(Object.fromEntries(Object.entries(document.effects).map(([name, { count }]) => [name, count]))).toEqual({
        'incident-triage': 1,
        research: 1,
        refund: 2,
      });
      expect(document.audit).toMatchObject({ verified: true });
      expect(document.audit.records).toBeGreaterThan(20);
    },
    240_000,
  );

  it('dev: all services on one workspace, loaded again when a file changes, ended by a signal', async () => {
    const workspace = path.join(folder, 'triage');
    cpSync(path.join(ROOT, 'examples/incident-triage'), workspace, { recursive: true });
    const running = start(process.execPath, [CLI, 'dev', workspace, '--port', '0', '--json']);
    const events: { readonly again?: boolean; readonly url?: string }[] = [];
    createInterface({ input: running.stdout! }).on('line', (line) => void events.push(JSON.parse(line) as object));
    const ready = (again: boolean) =>
      until(() => events.find((event) => event.url !== undefined && event.again === again), 120_000);
    const first = await ready(false);
    expect((await fetch(`${first.url}/healthz`)).status).toBe(200);
    const agent = path.join(workspace, 'agents/incident-triage.yaml');
    writeFileSync(agent, readFileSync(agent, 'utf8').replace('You triage incidents', 'You triage the incidents'));
    const second = await ready(true);
    expect((await fetch(`${second.url}/healthz`)).status).toBe(200);
    running.kill('SIGTERM');
    expect(await once(running, 'exit')).toEqual([0, null]);
  }, 240_000);

  it('stack:up prints the addresses and stays; stack:down ends it', async () => {
    const before = existsSync(STAYING);
    const script = (name: string) => ['run', '-s', '--prefix', ROOT, name];
    const up = await outputOf('npm', script('stack:up'));
    expect([up.code, up.code === 0 ? '' : up.stderr]).toEqual([0, '']);
    for (const name of ['KAFKA_BROKERS', 'REDIS_URL', 'DATABASE_URL'])
      expect(up.stdout).toMatch(new RegExp(`^export COUNTERSIGN_${name}=\\S+$`, 'm'));
    expect(existsSync(STAYING)).toBe(true);
    if (before) return; // somebody works with it
    const down = await outputOf('npm', script('stack:down'));
    expect([down.code, down.stderr]).toEqual([0, expect.stringMatching(/^Ended: /m)]);
    expect(existsSync(STAYING)).toBe(false);
  }, 240_000);
});
