import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { until } from '../../libs/runtime/testing/service-harness.ts';
import { openProcesses, type Processes } from './open-processes.ts';
import { ask } from './system.ts';
import { startWorld, type World } from './world.ts';

const built = path.join(import.meta.dirname, '../../dist/examples');
const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-clock-'));
const preload = path.join(import.meta.dirname, 'shifted-date.mjs');
const HOURS = {
  'all-in-one': 7,
  gateway: -5,
  orchestrator: 6,
  'model-adapter': -3,
  policy: 9,
  executor: -8,
  'state-store': 2,
  telemetry: 4,
};
const HOUR_MS = 3_600_000;

interface Approval {
  readonly approvalId: string;
  readonly callId: string;
  readonly digest: string;
  readonly expiresAt: string;
}

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(['embedded', 'stack'] as const)(
  '%s: real processes whose clocks are hours off, each another way, and jump',
  (mode) => {
    const flip = path.join(folder, mode);
    let world: World;
    let processes: Processes;
    beforeAll(async () => {
      world = await startWorld(built);
      const env = {
        ...world.env,
        NODE_OPTIONS: `--import ${preload}`,
        TEST_SHIFTED_HOURS: JSON.stringify(HOURS),
        TEST_SHIFT_FLIP: flip,
      };
      processes = await openProcesses(mode, { ...world, env });
    }, 120_000);
    afterAll(async () => {
      await processes?.close();
      await world?.close();
    }, 60_000);
    const write = (item: string) => {
      const body = { tool: 'probe.guarded_write', arguments: { item }, taskId: item };
      return ask<{ callId: string }>(processes, 'alice', 'POST', '/v1/calls', body);
    };

    it('approvals live as long as they say, no grant ends early or late, and each write happens once (G3, G5, G6)', async () => {
      for (let round = 0; round < 6; round++) {
        const item = `clock-${randomBytes(5).toString('hex')}`;
        const { callId } = (await write(item)).body;
        const approval = await until(async () => {
          const { body } = await ask<{ items: Approval[] }>(processes, 'bob', 'GET', '/v1/approvals?status=pending');
          return body.items.find((one) => one.callId === callId);
        }, 30_000);
        const left = Date.parse(approval.expiresAt) - Date.now();
        expect(left).toBeGreaterThan(0);
        expect(left).toBeLessThan(HOUR_MS + 60_000);
        const decision = { decision: 'approved', digest: approval.digest };
        const decided = await ask(processes, 'bob', 'POST', `/v1/approvals/${approval.approvalId}/decision`, decision);
        expect(decided.status).toBe(200);
        const result = await until(async () => {
          const { body } = await ask<{ result: { ok: boolean } | null }>(
            processes,
            'alice',
            'GET',
            `/v1/calls/${callId}`,
          );
          return body.result;
        }, 30_000);
        expect(result).toMatchObject({ ok: true });
        const applied = Object.entries(world.sink.state().byKey).filter(([key]) => key.includes(item));
        expect(applied.map(([, { applied: count }]) => count)).toEqual([1]);
        if (round === 2) writeFileSync(flip, ''); // their clocks jump
      }
      const client = new pg.Client({ connectionString: processes.databaseUrl });
      await client.connect();
      const { rows } = await client.query<{ returns: number; life: number }>(
        `select max(returns)::int returns,
              max(extract(epoch from grant_expires_at - now()))::double precision life
         from policy.decision where state = 'granted'`,
      );
      await client.end();
      expect(rows[0]!.returns).toBe(0);
      expect(rows[0]!.life).toBeLessThan(61);
    }, 120_000);
  },
);
