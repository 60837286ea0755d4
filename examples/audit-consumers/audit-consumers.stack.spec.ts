import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import pg from 'pg';
import { freshDatabase, type FreshDatabase } from '../../libs/persistence/testing/fresh-database.ts';
import { until } from '../../libs/runtime/testing/service-harness.ts';
import { openStackSystem } from '../../test/e2e/open-stack.ts';
import { ask, type System } from '../../test/e2e/system.ts';
import { startWorld, type World } from '../../test/e2e/world.ts';

const PATIENCE_MS = 60_000;
const built = path.join(import.meta.dirname, '../../dist/examples');
const tenant = `audited-${randomBytes(4).toString('hex')}`;

/** Takes lines of events, as a collector does; it can be told to refuse, or to take and then lose its answer. */
async function startCollector() {
  const lines: string[] = [];
  const collector = { mode: 'take' as 'take' | 'refuse' | 'lose', refused: 0 };
  const server = http.createServer((request, response) => {
    void textOf(request).then((body) => {
      if (collector.mode === 'refuse') {
        collector.refused++;
        response.writeHead(503).end();
        return;
      }
      lines.push(...body.trimEnd().split('\n'));
      if (collector.mode === 'lose') request.socket.destroy();
      else response.writeHead(204).end();
      collector.mode = 'take';
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => new Promise((resolve) => server.close(resolve).closeAllConnections());
  return Object.assign(collector, { lines, url: `http://127.0.0.1:${port}/events`, close });
}

describe('the audit consumers of the examples, on the topic of a running installation (G11)', () => {
  let world: World;
  let system: System;
  let sink: FreshDatabase;
  let collector: Awaited<ReturnType<typeof startCollector>>;
  let folder: string;
  const children = new Set<ChildProcess>();

  const start = (name: string): ChildProcess & { printed: () => string } => {
    const args = ['--brokers', process.env.TEST_KAFKA_BROKERS!, '--group', `${name}-${tenant}`, '--tenant', tenant];
    const own = ['--state', path.join(folder, `${name}.json`), '--to', collector.url];
    const child = spawn(process.execPath, [path.join(built, 'audit-consumers', name, 'main.js'), ...args, ...own], {
      env: { PATH: process.env.PATH, AUDIT_SINK_DATABASE_URL: sink.url },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let printed = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data: Buffer) => (printed += data.toString()));
    children.add(child);
    return Object.assign(child, { printed: () => printed });
  };
  const kill = async (child: ChildProcess): Promise<void> => {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
    children.delete(child);
  };
  /** The audit as the gateway tells it. */
  const listed = async (): Promise<{ id: string; type: string; subject: string }[]> => {
    const { body } = await ask<{ items: { id: string; type: string; subject: string }[]; next: string | null }>(
      system,
      `${tenant}/ann`,
      'GET',
      '/v1/audit?limit=500',
    );
    expect(body.next).toBeNull();
    return body.items;
  };
  /** Calls, and then what was recorded for them until the ends of their runs; other ledgers may still grow. */
  const recorded = async (calls: number): Promise<string[]> => {
    const callIds: string[] = [];
    for (let i = 0; i < calls; i++) {
      const item = randomBytes(5).toString('hex');
      const body = { tool: 'probe.write_item', arguments: { item }, taskId: item };
      const call = await ask<{ callId: string }>(system, `${tenant}/alice`, 'POST', '/v1/calls', body, {
        prefer: 'wait=30',
      });
      callIds.push(call.body.callId);
    }
    return until(async () => {
      const items = await listed();
      const ended = items.filter(({ type }) => type.includes('run.ended')).map(({ subject }) => subject.slice(4));
      return callIds.every((callId) => ended.includes(callId.slice(5, 31))) ? items.map(({ id }) => id) : null;
    }, PATIENCE_MS);
  };
  const idsAt = (lines: readonly string[]): string[] => lines.map((line) => (JSON.parse(line) as { id: string }).id);
  const rows = async (): Promise<string[]> => {
    const client = new pg.Client({ connectionString: sink.url });
    await client.connect();
    try {
      const found = await client.query<{ event: string }>('select event from audit_event');
      expect((await client.query('select * from audit_fault')).rows).toEqual([]);
      return idsAt(found.rows.map(({ event }) => event));
    } catch (error) {
      if ((error as { code?: string }).code === '42P01') return [];
      throw error;
    } finally {
      await client.end();
    }
  };

  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-consumers-'));
    sink = await freshDatabase();
    collector = await startCollector();
    world = await startWorld(built);
    system = await openStackSystem({ ...world, env: { ...world.env, COUNTERSIGN_DEV_TENANT: tenant } });
  }, 180_000);
  afterAll(async () => {
    for (const child of children) await kill(child);
    await system?.close();
    await world?.close();
    await collector?.close();
    await sink?.drop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  it('each gets every record, verified; killed, it goes on where its sink ended', async () => {
    const first = await recorded(3);
    const [plain, siem, sql] = [start('plain-kafkajs'), start('siem-forwarder'), start('sql-sink')];
    const sorted = (ids: Iterable<string>): string[] => [...ids].sort();
    // Node may have warnings of its own between them.
    const linesOf = (printed: string): string[] => [...printed.matchAll(/^\S+#\d+ (evt_\w+) /gm)].map(([, id]) => id!);
    await until(async () => {
      const counts = [linesOf(plain.printed()).length, collector.lines.length, (await rows()).length];
      return counts.every((count) => count >= first.length);
    }, PATIENCE_MS);

    // The collector is away, then takes some and loses its answer, and the forwarder dies before it can know.
    collector.mode = 'refuse';
    await recorded(3);
    let all: string[] = [];
    await until(() => collector.refused > 1, PATIENCE_MS);
    collector.mode = 'lose';
    await until(() => collector.mode === 'take', PATIENCE_MS);
    const printed = plain.printed();
    await Promise.all([plain, siem, sql].map(kill));
    const again = [start('plain-kafkajs'), start('siem-forwarder'), start('sql-sink')];
    await until(async () => {
      const seen = new Set(linesOf(printed + again[0]!.printed()));
      const taken = new Set(idsAt(collector.lines));
      all = (await listed()).map(({ id }) => id);
      return seen.size >= all.length && taken.size >= all.length && (await rows()).length >= all.length;
    }, PATIENCE_MS);

    expect(sorted(await rows())).toEqual(sorted(all));
    expect(sorted(new Set(idsAt(collector.lines)))).toEqual(sorted(all));
    expect(collector.lines.join('\n')).not.toContain('countersign.audit.fault');
    expect(sorted(new Set(linesOf(printed + again[0]!.printed())))).toEqual(sorted(all));
    expect(printed + again.map((child) => child.printed()).join('')).not.toContain('FAULT');
  }, 300_000);
});
