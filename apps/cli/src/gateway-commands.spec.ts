import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ask, type System } from '../../../test/e2e/system.ts';
import { openEmbedded } from '../../../test/e2e/open-embedded.ts';
import { startWorld, type World } from '../../../test/e2e/world.ts';
import { until } from '../../../libs/runtime/testing/service-harness.ts';
import { runCli, type CliAnswer } from '../testing/run-cli.ts';
import type { ApprovalView, RunView } from './client/views.ts';

const ALICE = 'dev.dev.alice.agent';
const BOB = 'dev.dev.bob.approver';
const ANN = 'dev.dev.ann.operator+auditor';

/** The real command against a real installation: all services on a PostgreSQL of their own. */
describe('commands that talk to the gateway', () => {
  let world: World;
  let system: System;
  let folder: string;
  const as = (token: string, ...args: string[]): Promise<CliAnswer> =>
    runCli(args, { COUNTERSIGN_URL: system.gateway, COUNTERSIGN_TOKEN: token });
  const json = async <T>(token: string, ...args: string[]): Promise<T> => {
    const { code, stdout, stderr } = await as(token, ...args, '--json');
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as T;
  };
  const pendingOf = (runId: string): Promise<ApprovalView> =>
    until(async () => {
      const { body } = await ask<{ items: ApprovalView[] }>(system, 'bob', 'GET', '/v1/approvals?status=pending');
      return body.items.find((approval) => approval.runId === runId);
    });

  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-cli-'));
    world = await startWorld();
    system = await openEmbedded(world);
  });
  afterAll(async () => {
    await system.close();
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('a run is started, watched, approved by what was seen, and shown; the audit of it verifies (G2)', async () => {
    const started = await json<RunView>(
      ALICE,
      ...[
        'runs',
        'start',
        'incident-triage',
        'Checkout is failing: open a ticket.',
        '--task',
        'cli-1',
        '--label',
        'by=cli',
      ],
    );
    const watching = as(ALICE, 'runs', 'watch', started.runId, '--json');
    const approval = await pendingOf(started.runId);

    const listed = await as(BOB, 'approvals', 'list');
    expect(listed.stdout).toMatch(/^APPROVAL +STATUS +TOOL +RISK +ASKED FOR BY +EXPIRES +ARGUMENTS\nappr_/);
    expect(listed.stdout).not.toContain('\u001b');
    const shown = await as(BOB, 'approvals', 'show', approval.approvalId);
    expect(shown.stdout).toContain('Exactly this will run\n  {\n    "summary"'.slice(0, 24));
    expect(shown.stdout).toContain(approval.digest);

    const decide = ['approvals', 'approve', approval.approvalId, '--yes', '--digest'];
    const stale = await as(BOB, ...decide, `sha256:${'0'.repeat(64)}`);
    expect([stale.code, stale.stderr]).toEqual([1, expect.stringContaining('APPROVAL_MISMATCH: ')]);
    const own = await as(ALICE, ...decide, approval.digest);
    expect([own.code, own.stderr]).toEqual([4, expect.stringMatching(/^error: PERMISSION_DENIED: .*\n$/)]);
    const decided = await json<ApprovalView>(BOB, ...decide, approval.digest, '--reason', 'seen');
    expect(decided).toMatchObject({ decidedBy: 'user:bob', reason: 'seen' });

    const { code, stdout, stderr } = await watching;
    expect([code, stderr]).toEqual([0, '']);
    const changes = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; run?: RunView; call?: { tool: string; status: string } });
    expect(changes.at(-1)).toMatchObject({ type: 'run', run: { runId: started.runId, status: 'completed' } });
    expect(changes).toContainEqual({
      type: 'call',
      runId: started.runId,
      call: expect.objectContaining({ tool: 'incidents.create_incident_ticket@1.0.0', status: 'succeeded' }),
    });

    const run = await as(ALICE, 'runs', 'show', started.runId);
    expect(run.stdout).toMatch(/status +completed\n/);
    expect(run.stdout).toContain(
      'What was changed (by the journal)\n  applied: incidents.create_incident_ticket@1.0.0',
    );
    expect(run.stdout).toContain('What the model says (untrusted)');
    const { items } = await json<{ items: RunView[] }>(ALICE, 'runs', 'list', '--label', 'by=cli', '--limit', '5');
    expect(items.map(({ runId }) => runId)).toEqual([started.runId]);
    const callId = items[0]!.calls!.at(-1)!.callId;
    expect((await as(ALICE, 'calls', 'show', callId)).stdout).toMatch(/Result \(untrusted\)\n\{\n/);

    const report = await json<{ verified: boolean; records: number }>(ANN, 'audit', 'verify');
    expect(report).toMatchObject({ verified: true, faults: [] });
    const proved = await as(ANN, 'audit', 'prove', callId);
    expect([proved.code, proved.stdout]).toEqual([
      0,
      expect.stringMatching(/^proved: record \d+ of the ledger dev\/\d/),
    ]);
    const tail = await as(ANN, 'audit', 'tail', '--run', started.runId, '--limit', '1000', '--json');
    const file = path.join(folder, 'audit.jsonl');
    writeFileSync(file, (await as(ANN, 'audit', 'tail', '--limit', '100000', '--json')).stdout);
    expect((await as(ANN, 'audit', 'verify', '--file', file)).stdout).toMatch(/^verified: \d+ records/);
    expect(tail.stdout.trim().split('\n').length).toBeGreaterThan(5);
    writeFileSync(file, tail.stdout.trim().split('\n').toSpliced(1, 1).join('\n'));
    const cut = await as(ANN, 'audit', 'verify', '--file', file);
    expect([cut.code, cut.stdout]).toEqual([1, expect.stringMatching(/^NOT verified: [^]*deleted/)]);
  });

  it('a run that is rejected or cancelled ends the watch with 1', async () => {
    const start = ['runs', 'start', 'incident-triage', 'Checkout is failing: open a ticket.', '--watch'];
    const watching = as(ALICE, ...start, '--task', 'cli-2', '--label', 'cancel=me');
    const runId = await until(async () => {
      const { body } = await ask<{ items: RunView[] }>(system, 'alice', 'GET', '/v1/runs?label=cancel:me');
      return body.items.find(({ status }) => status === 'awaiting_approval')?.runId;
    });
    const cancelled = await as(ALICE, 'runs', 'cancel', runId, '--reason', 'not needed');
    expect([cancelled.code, cancelled.stderr]).toEqual([0, '']);
    const { code, stdout } = await watching;
    expect([code, stdout]).toEqual([1, expect.stringMatching(/status +cancelled\n/)]);
  });

  it('a run is paused, taken over and handed back', async () => {
    const start = ['runs', 'start', 'incident-triage', 'Checkout is failing: open a ticket.', '--task', 'cli-3'];
    const { runId } = await json<RunView>(ALICE, ...start);
    await pendingOf(runId);
    const steps = [
      ['pause', 'is paused', 'paused'],
      ['take-over', 'is yours', 'taken_over'],
      ['hand-back', 'goes on', 'awaiting_approval'],
    ] as const;
    for (const [verb, told, status] of steps) {
      const { code, stdout, stderr } = await as(ALICE, 'runs', verb, runId, '--reason', 'checked by hand');
      expect([code, stdout, stderr]).toEqual([0, `run ${runId} ${told}\n`, '']);
      await until(async () => {
        const { body } = await ask<RunView>(system, 'alice', 'GET', `/v1/runs/${runId}`);
        return body.status === status;
      });
    }
  }, 120_000);

  it('the use of the tenant is shown to those who run or audit it', async () => {
    expect((await as(ANN, 'usage')).stdout).toBe('the tenant has no limits\n');
    expect(await json(ANN, 'usage')).toEqual({ limits: [] });
    expect((await as(ALICE, 'usage')).code).toBe(4);
  });

  it('tools are listed and shown; a workspace that is live already is compared, and changes nothing', async () => {
    const { stdout } = await as(ALICE, 'tools', 'list');
    expect(stdout).toMatch(/^TOOL +VERSION +LAYER/);
    const tool = await json<{ tool: string; contract: object }>(ALICE, 'tools', 'show', 'probe.write_item');
    expect(tool).toMatchObject({ tool: 'probe.write_item', live: true });
    const workspace = path.resolve(import.meta.dirname, '../../../examples/incident-triage');
    const live = await json<{ live: boolean; published: boolean; tools: { state: string }[] }>(
      ALICE,
      'apply',
      '-f',
      workspace,
    );
    expect(live).toMatchObject({ valid: true, live: true, published: true });
    expect(new Set(live.tools.map(({ state }) => state))).toEqual(new Set(['live']));
  });

  it('a workspace is applied: contracts are published, and what else it needs is said; nothing with --dry-run', async () => {
    const PAT = 'dev.dev.pat.tool-publisher';
    const workspace = path.join(folder, 'desk');
    mkdirSync(path.join(workspace, 'tools'), { recursive: true });
    mkdirSync(path.join(workspace, 'agents'));
    const contract = readFileSync(new URL('../../gateway/testing/workspace/tools/create-ticket.yaml', import.meta.url));
    const file = path.join(workspace, 'tools/create-ticket.yaml');
    writeFileSync(file, contract.toString().replace('namespace: desk', 'namespace: applied'));
    const agent = { name: 'clerk', model: 'm', instructions: 'i', toolset: ['applied.create_ticket'] };
    writeFileSync(path.join(workspace, 'agents/clerk.json'), JSON.stringify(agent));
    const dry = await as(PAT, 'apply', '-f', workspace, '--dry-run');
    expect([dry.code, dry.stdout]).toEqual([1, expect.stringContaining('not published yet')]);
    expect((await as(ALICE, 'apply', '-f', workspace)).code).toBe(4);
    const applied = await as(PAT, 'apply', '-f', workspace);
    expect([applied.code, applied.stderr]).toEqual([0, '']);
    expect(applied.stdout).toMatch(/applied\.create_ticket +1\.0\.0 +live/);
    expect(applied.stdout).toContain('the agent clerk are not published over the API');
    expect((await as(ALICE, 'tools', 'show', 'applied.create_ticket')).code).toBe(0);

    writeFileSync(file, readFileSync(file, 'utf8').replace('version: 1.0.0', 'version: 1.1.0\nrisk: high'));
    expect((await as(PAT, 'tools', 'publish', file)).stdout).toBe(
      'applied.create_ticket@1.1.0 published (effect_change)\n',
    );
    const diff = await as(ALICE, 'tools', 'diff', 'applied.create_ticket', '--against', '1.0.0');
    expect(diff.stdout).toMatch(/1\.0\.0 → applied\.create_ticket@1\.1\.0: effect_change\nWHERE[^]*\n\/risk/);
    writeFileSync(file, readFileSync(file, 'utf8').replace('risk: high', 'risk: medium'));
    const conflict = await as(PAT, 'tools', 'publish', file);
    expect([conflict.code, conflict.stderr]).toEqual([1, expect.stringContaining('CONTRACT_CHANGED: ')]);
    const stop = await as(PAT, 'tools', 'quarantine', 'applied.create_ticket', '--reason', 'wrong desk');
    expect(stop.stdout).toBe('applied.create_ticket is quarantined\n');
    expect((await as(ALICE, 'tools', 'show', 'applied.create_ticket')).code).toBe(1);
    await as(PAT, 'tools', 'release', 'applied.create_ticket', '--reason', 'mended');
    expect((await as(ALICE, 'tools', 'show', 'applied.create_ticket')).code).toBe(0);
    expect((await as(PAT, 'tools', 'reviews')).stdout).toBe('nothing waits for a review\n');
  });

  it('what is not there exits 1, what is refused 4, each with the code of the API (G12)', async () => {
    const missing = await as(ALICE, 'runs', 'show', `run_${'0'.repeat(26)}`);
    expect([missing.code, missing.stderr]).toEqual([1, 'error: NOT_FOUND: There is no such run\n']);
    const refused = await as(ALICE, 'audit', 'tail');
    expect([refused.code, refused.stderr]).toEqual([4, expect.stringMatching(/^error: PERMISSION_DENIED: .*\n$/)]);
    const unknown = await as('nobody', 'tools', 'list');
    expect([unknown.code, unknown.stderr]).toEqual([4, expect.stringContaining('COUNTERSIGN_TOKEN')]);
    const agent = await as(ALICE, 'runs', 'start', 'nobody', 'hello', '--json');
    expect([agent.code, JSON.parse(agent.stderr)]).toEqual([
      1,
      { error: { exit: 1, code: 'NOT_FOUND', message: expect.stringContaining('"nobody"') } },
    ]);
  });
});
