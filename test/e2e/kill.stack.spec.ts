import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { SERVICE_NAMES } from '#runtime';
import { until } from '../../libs/runtime/testing/service-harness.ts';
import { openProcesses, type Processes } from './open-processes.ts';
import { ask } from './system.ts';
import { startWorld, type World } from './world.ts';

const built = path.join(import.meta.dirname, '../../dist/examples');
const PATIENCE_MS = 90_000;

interface Approval {
  readonly approvalId: string;
  readonly runId: string;
  readonly digest: string;
}

describe.each([
  ['embedded', ['all-in-one']],
  ['stack', SERVICE_NAMES],
] as const)('%s: a process that is killed loses and repeats nothing', (mode, targets) => {
  let world: World;
  let processes: Processes;
  beforeAll(async () => {
    world = await startWorld(built);
    processes = await openProcesses(mode, world);
  }, 120_000);
  afterAll(async () => {
    await processes?.close();
    await world?.close();
  }, 60_000);

  /** A gateway that is being started again is asked again. */
  const patient = <T>(look: () => Promise<T | null | undefined>): Promise<NonNullable<T>> =>
    until(() => look().catch(() => null), PATIENCE_MS);

  const kill = async (name: string): Promise<void> => {
    const pid = await until(() => processes.services.list().find((service) => service.name === name)?.pid, PATIENCE_MS);
    process.kill(pid, 'SIGKILL');
    await until(() => processes.services.list().find((service) => service.name === name)?.pid !== pid, PATIENCE_MS);
  };

  it.each([...targets])(
    'kill -9 of %s before the approval, at it and after it: the run ends, one ticket (G4, G5)',
    async (target) => {
      const taskId = `kill-${randomBytes(5).toString('hex')}`;
      const key = { 'idempotency-key': `"${taskId}"` };
      const start = { agent: 'incident-triage', input: 'checkout is failing', taskId };
      const { runId } = await patient(async () => {
        const answer = await ask<{ runId: string }>(processes, 'alice', 'POST', '/v1/runs', start, key);
        return answer.status === 202 ? answer.body : null;
      });
      await kill(target);
      const approval = await patient(async () => {
        const { body } = await ask<{ items: Approval[] }>(processes, 'bob', 'GET', '/v1/approvals?status=pending');
        return body.items.find((item) => item.runId === runId);
      });
      await kill(target);
      await patient(async () => {
        const decision = { decision: 'approved', digest: approval.digest, reason: 'test' };
        const { status } = await ask(
          processes,
          'bob',
          'POST',
          `/v1/approvals/${approval.approvalId}/decision`,
          decision,
          { 'idempotency-key': approval.approvalId },
        );
        return status === 200 || status === 409;
      });
      await kill(target);
      const run = await patient(async () => {
        const { body } = await ask<{ status: string; outcome: string }>(processes, 'alice', 'GET', `/v1/runs/${runId}`);
        return ['completed', 'failed', 'stopped'].includes(body.status) ? body : null;
      });
      expect(run).toMatchObject({ status: 'completed', outcome: 'all_succeeded' });
      const { tickets } = (await (await fetch(new URL('/tickets', world.incidentsUrl))).json()) as {
        tickets: { idempotency_key: string }[];
      };
      expect(tickets.filter((ticket) => ticket.idempotency_key.includes(taskId))).toHaveLength(1);
    },
    300_000,
  );

  it('kill -9 of the executor while the source system hangs: the key is used again, what has none is not (G5, G7)', async () => {
    const taskId = `kill-${randomBytes(5).toString('hex')}`;
    const items = { keyed: `hang-once-${taskId}`, once: `hang-${taskId}` };
    const start = (tool: string, item: string): Promise<string> =>
      patient(async () => {
        const body = { tool, arguments: { item }, taskId };
        const answer = await ask<{ callId: string }>(processes, 'alice', 'POST', '/v1/calls', body, {
          'idempotency-key': `"${item}"`,
        });
        return answer.status < 300 ? answer.body.callId : null;
      });
    const calls = [await start('probe.slow_item', items.keyed), await start('probe.slow_item_once', items.once)];
    await until(() => Object.values(items).every((item) => world.sink.state().byItem[item]), PATIENCE_MS);
    await kill(mode === 'stack' ? 'executor' : 'all-in-one');
    const views = await Promise.all(
      calls.map((callId) =>
        patient(async () => {
          const { body } = await ask<{ status: string; effect: string }>(
            processes,
            'alice',
            'GET',
            `/v1/calls/${callId}`,
          );
          return ['succeeded', 'failed', 'outcome_unknown'].includes(body.status) ? body : null;
        }),
      ),
    );
    expect(views).toMatchObject([
      { status: 'succeeded', effect: 'applied' },
      { status: 'outcome_unknown', effect: 'unknown' },
    ]);
    const { byItem } = world.sink.state();
    expect(byItem[items.keyed]).toEqual({
      attempts: 2,
      applied: 1,
      keys: [`dev/user:alice/${taskId}:${items.keyed}`],
    });
    expect(byItem[items.once]).toEqual({ attempts: 1, applied: 1, keys: [] });
  }, 300_000);
});
