import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { CheckedWorkspace, CheckResult } from '../../workspace/check-workspace.ts';
import { DevServer, type DevEvent } from './dev-server.ts';
import { FolderWatch } from './folder-watch.ts';

const workspace: CheckedWorkspace = { name: 'w', dir: '/w', tools: [], policies: [], agents: [] };

describe('services on a workspace that changes', () => {
  let done: string[];
  let events: DevEvent[];
  let result: CheckResult;
  let conflicts: string[];
  const serve = (start: () => Promise<void> = () => Promise.resolve()): DevServer =>
    new DevServer({
      check: () => Promise.resolve(result),
      compare: () => Promise.resolve(conflicts),
      async start() {
        await start();
        done.push('start');
        return { stop: () => Promise.resolve(void done.push('stop')) };
      },
      onEvent: (event) => events.push(event),
    });
  beforeEach(() => {
    done = [];
    events = [];
    conflicts = [];
    result = { ok: true, workspace };
  });

  it('a fault is told, and the old ones keep running (G13)', async () => {
    const server = serve();
    await server.reload();
    result = { ok: false, faults: ['tools/a.ts: line 1: boom'] };
    await server.reload();
    result = { ok: true, workspace };
    conflicts = ['tools: a.b@1.0.0 was published with other content'];
    await server.reload();
    expect(done).toEqual(['start']);
    expect(events.filter(({ type }) => type === 'faults')).toEqual([
      { type: 'faults', faults: ['tools/a.ts: line 1: boom'], running: true },
      { type: 'faults', faults: conflicts, running: true },
    ]);
    await server.stop();
    expect(done).toEqual(['start', 'stop']);
  });

  it('a good change drains the old ones before the next start, one reload at a time', async () => {
    const server = serve();
    await Promise.all([server.reload(), server.reload()]);
    await server.stop();
    expect(done).toEqual(['start', 'stop', 'start', 'stop']);
  });

  it('ones that do not start are told, and the next change tries again', async () => {
    let broken = true;
    const server = serve(() => (broken ? Promise.reject(new Error('no database')) : Promise.resolve()));
    await server.reload();
    expect(events.at(-1)).toEqual({ type: 'failed', message: 'no database' });
    broken = false;
    await server.reload();
    expect(events.at(-1)).toEqual({ type: 'ready', workspace, again: false });
    await server.stop();
  });
});

describe('a watch on a workspace', () => {
  it('tells which files changed, were added and went, and ends when it is asked to', async () => {
    const root = mkdtempSync(path.join(os.tmpdir(), 'countersign-watch-'));
    mkdirSync(path.join(root, 'tools'));
    writeFileSync(path.join(root, 'tools/a.yaml'), 'a');
    writeFileSync(path.join(root, 'tools/b.yaml'), 'b');
    const watch = new FolderWatch(root);
    await watch.begin();
    writeFileSync(path.join(root, 'tools/a.yaml'), 'other');
    rmSync(path.join(root, 'tools/b.yaml'));
    mkdirSync(path.join(root, 'policies'));
    writeFileSync(path.join(root, 'policies/p.cedar'), 'p');
    writeFileSync(path.join(root, 'README.md'), 'not watched');
    const ending = new AbortController();
    expect(await watch.changed(ending.signal)).toEqual(['policies/p.cedar', 'tools/a.yaml', 'tools/b.yaml']);
    const last = watch.changed(ending.signal);
    ending.abort();
    expect(await last).toEqual([]);
    rmSync(root, { recursive: true, force: true });
  });
});
