import fs from 'node:fs';
import path from 'node:path';
import { verifyAudit, verifyOverHttp, type AuditReport } from '#audit';
import { until } from '../../libs/runtime/testing/service-harness.ts';
import { openEmbedded } from '../e2e/open-embedded.ts';
import { ask, type System } from '../e2e/system.ts';
import { startEffectSink, type EffectSink } from '../e2e/effect-sink.ts';

const CANARY = 'canary0123456789abcdef';
const WAIT = { prefer: 'wait=30' };

/** All seven services at work, with their logs at the finest level; what they write to stderr is kept. */
describe('the audit of the whole ring', () => {
  let sink: EffectSink;
  let system: System;
  let logs = '';
  const { writeSync } = fs;
  const level = process.env.TEST_LOG_LEVEL;
  beforeAll(async () => {
    fs.writeSync = ((fd: number, data: string | Buffer, ...rest: unknown[]) => {
      if (fd !== 2) return writeSync(fd, data as never, ...(rest as []));
      logs += data.toString();
      return Buffer.byteLength(data);
    }) as typeof writeSync;
    process.env.TEST_LOG_LEVEL = 'trace';
    sink = await startEffectSink();
    const env = {
      COUNTERSIGN_DEV: '1',
      COUNTERSIGN_WORKSPACES: path.join(import.meta.dirname, 'workspace'),
      COUNTERSIGN_TOOL_ENV: 'PROBE_URL',
      PROBE_URL: sink.url,
      OPENAI_API_KEY: 'no model is asked',
    };
    system = await openEmbedded({ sink, env, incidentsUrl: '', close: () => sink.close() });
  }, 180_000);
  afterAll(async () => {
    await system?.close();
    await sink?.close();
    fs.writeSync = writeSync;
    if (level === undefined) delete process.env.TEST_LOG_LEVEL;
    else process.env.TEST_LOG_LEVEL = level;
  }, 60_000);

  const call = (tool: string, args: unknown, headers: Record<string, string> = WAIT, taskId = `${CANARY}-task`) =>
    ask<{ callId: string }>(system, 'alice', 'POST', '/v1/calls', { tool, arguments: args, taskId }, headers);
  const verify = (runIds: readonly string[] = []): Promise<AuditReport> =>
    verifyOverHttp({ baseUrl: system.gateway, token: 'dev.dev.ann.auditor', runIds });
  const runOf = (callId: string): string => `run_${callId.slice(5, 31)}`;

  it('verifies over HTTP after reads, writes, refusals, approvals and mishaps, and holds none of their content (G11)', async () => {
    const calls = [
      await call('probe.read_items', { limit: 2 }, { ...WAIT, traceparent: CANARY }),
      await call('probe.write_item', { item: `${CANARY} as an item` }),
      await call('probe.write_item', { item: `refuse-${CANARY}` }, WAIT, `${CANARY}-refused`),
      await call('probe.write_item', { item: 7, [CANARY]: CANARY }, WAIT, `${CANARY}-wrong`),
      await call('probe.write_item', `{"item": "${CANARY}`, WAIT, `${CANARY}-broken`),
      await call(`probe.${CANARY}`, {}),
    ];
    const asked = await call('probe.guarded_write', { item: CANARY }, {}, `${CANARY}-asked`);
    const approval = await until(
      async () =>
        (
          await ask<{ items: { approvalId: string; digest: string; callId: string }[] }>(
            system,
            'bob',
            'GET',
            '/v1/approvals?status=pending',
          )
        ).body.items[0],
    );
    const decision = { decision: 'rejected', digest: approval.digest, reason: `${CANARY} is why` };
    expect((await ask(system, 'bob', 'POST', `/v1/approvals/${approval.approvalId}/decision`, decision)).status).toBe(
      200,
    );
    const run = await ask<{ runId: string }>(system, 'alice', 'POST', '/v1/runs', {
      driver: 'client',
      labels: { team: CANARY },
      taskId: CANARY,
    });
    expect(run.status).toBeLessThan(300);
    const { runId } = run.body;
    await ask(
      system,
      'alice',
      'POST',
      `/v1/runs/${runId}/calls`,
      {
        calls: [{ tool: 'probe.read_items', arguments: { limit: 1 }, providerCallId: CANARY }],
      },
      WAIT,
    );
    await ask(system, 'alice', 'POST', `/v1/runs/${runId}/finish`);

    const runIds = [...calls, asked]
      .map(({ body }) => body.callId)
      .filter(Boolean)
      .map(runOf);
    const report = await verify([...runIds, runId]);
    expect(report.faults).toEqual([]);
    expect(report.tenants).toEqual([expect.objectContaining({ tenant: 'dev', openRuns: 0, records: report.records })]);
    expect(report.ledgers.length).toBeGreaterThan(1);
    const { body } = await ask<{ items: object[] }>(system, 'ann', 'GET', '/v1/audit?limit=500');
    expect(body.items).toHaveLength(report.records);
    expect(JSON.stringify(body.items)).not.toMatch(new RegExp(CANARY, 'i'));
    expect(logs).toContain('started');
    expect(logs).not.toMatch(new RegExp(CANARY, 'i'));
  }, 120_000);

  it('another tenant sees nothing of it, and its empty ledger verifies (G12)', async () => {
    const report = await verifyOverHttp({ baseUrl: system.gateway, token: 'dev.other.ann.auditor' });
    expect(report).toMatchObject({ verified: true, records: 0, tenants: [], ledgers: [] });
  });

  it('who may not read the audit is told so; an address where nobody listens too', async () => {
    await expect(verifyOverHttp({ baseUrl: system.gateway, token: 'dev.dev.alice.agent' })).rejects.toThrow(
      /GET \/v1\/audit\/keys answered 403: .*operator, auditor/,
    );
    await expect(verifyOverHttp({ baseUrl: 'http://127.0.0.1:1', token: 'x' })).rejects.toThrow('does not answer');
  });

  it('the same records as a file of lines verify with the keys that were kept', async () => {
    const get = async <T>(path: string): Promise<T> => (await ask<T>(system, 'ann', 'GET', path)).body;
    const { keys } = await get<{ keys: unknown[] }>('/v1/audit/keys');
    const { items: checkpoints } = await get<{ items: { jws: string }[] }>('/v1/audit/checkpoints');
    const { items } = await get<{ items: object[] }>('/v1/audit?limit=500');
    const lines = items.map((item) => JSON.stringify(item));
    const report = await verifyAudit(lines, { keys, checkpoints: checkpoints.map(({ jws }) => jws) });
    expect(report).toMatchObject({ verified: true, tenants: [{ signed: items.length }] });
  });
});
