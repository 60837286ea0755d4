import { randomBytes } from 'node:crypto';
import { until } from '../../libs/runtime/testing/service-harness.ts';
import { planText } from './plan.script.ts';
import { ask, type System } from './system.ts';

interface Answer {
  ok?: boolean;
  callId: string;
  error?: { code: string };
}
interface Sink {
  byKey: Record<string, { attempts: number; applied: number }>;
}

const WAIT = { prefer: 'wait=30' };
const task = (): string => `task-${randomBytes(6).toString('hex')}`;

/** What the driver of a run says about its course; the same in every mode. */
export function runControlSuite(system: () => System, sinkState: () => Sink): void {
  const post = <T>(path: string, body: object, headers: Record<string, string> = WAIT, person = 'alice') =>
    ask<T>(system(), person, 'POST', path, body, headers);
  const clientRun = async (taskId: string): Promise<string> =>
    (await post<{ runId: string }>('/v1/runs', { driver: 'client', taskId }, {})).body.runId;

  describe('a run in the hands of people', () => {
    const status = async (runId: string, wanted: string): Promise<unknown> =>
      until(async () => {
        const { body } = await ask<{ status: string }>(system(), 'alice', 'GET', `/v1/runs/${runId}`);
        return body.status === wanted ? body : null;
      });

    it('paused, it begins nothing; handed back, it goes on with what was proposed (G2)', async () => {
      const id = task();
      const runId = await clientRun(id);
      expect((await post(`/v1/runs/${runId}/pause`, {}, {}, 'otto')).status).toBe(202);
      await status(runId, 'paused');
      const calls = [{ tool: 'probe.write_item', arguments: { item: 'held' } }];
      const { body } = await post<{ calls: Answer[] }>(`/v1/runs/${runId}/calls`, { calls }, {});
      expect(body.calls[0]).not.toHaveProperty('ok');
      expect((await post(`/v1/runs/${runId}/pause`, {}, {}, 'otto')).status).toBe(409);
      expect(sinkState().byKey[`dev/user:alice/${id}`]).toBeUndefined();
      expect((await post(`/v1/runs/${runId}/hand-back`, {}, {}, 'otto')).status).toBe(202);
      const finished = await post<{ outcome: string }>(`/v1/runs/${runId}/finish`, {});
      expect(finished.body).toMatchObject({ status: 'completed', outcome: 'all_succeeded' });
      expect(sinkState().byKey[`dev/user:alice/${id}`]).toEqual({ attempts: 1, applied: 1 });
    });

    it('taken over, the person acts with their own name, and the model is told what happened, not what was in it (G9, G10)', async () => {
      const id = task();
      const plan = planText({ turns: [[{ tool: 'probe.guarded_write', arguments: { item: 'asked' } }]] });
      const started = await post<{ runId: string }>('/v1/runs', { agent: 'guarded', input: plan, taskId: id }, {});
      const { runId } = started.body;
      const approval = await until(async () =>
        (
          await ask<{ items: { runId: string; approvalId: string; digest: string }[] }>(
            system(),
            'bob',
            'GET',
            '/v1/approvals?status=pending',
          )
        ).body.items.find((one) => one.runId === runId),
      );
      const calls = [{ tool: 'probe.write_item', arguments: { item: 'by-otto' } }];
      expect((await post(`/v1/runs/${runId}/calls`, { calls }, WAIT, 'otto')).status).toBe(409);
      expect((await post(`/v1/runs/${runId}/take-over`, {}, {}, 'otto')).status).toBe(202);
      const { body } = await post<{ calls: Answer[] }>(`/v1/runs/${runId}/calls`, { calls }, WAIT, 'otto');
      expect(body.calls).toMatchObject([{ ok: true }]);
      expect(sinkState().byKey[`dev/user:otto/${id}`]).toEqual({ attempts: 1, applied: 1 });
      const decision = { decision: 'approved', digest: approval.digest };
      expect((await post(`/v1/approvals/${approval.approvalId}/decision`, decision, {}, 'bob')).status).toBe(200);
      await post(`/v1/runs/${runId}/hand-back`, { reason: 'the item is there' }, {}, 'otto');
      const run = (await status(runId, 'completed')) as { answer: string; outcome: string };
      expect(run.outcome).toBe('all_succeeded');
      expect(run.answer).toContain('user:otto');
      expect(run.answer).toContain('- probe.write_item@1.0.0: succeeded');
      expect(run.answer).toContain('the item is there');
      expect(run.answer).not.toContain('by-otto');
      expect(sinkState().byKey[`dev/user:alice/${id}:guarded`]).toEqual({ attempts: 1, applied: 1 });
    });
  });

  describe('dependsOn of a run that the client drives', () => {
    const read = { tool: 'probe.read_items', arguments: {}, providerCallId: 'read' };
    const write = (item: string, own: object) => ({ tool: 'probe.write_item', arguments: { item }, ...own });

    it('a write waits for what it names, and ends DEPENDENCY_FAILED without an attempt when that did not succeed (G9)', async () => {
      const id = task();
      const runId = await clientRun(id);
      const calls = [write('late', { dependsOn: ['read'] }), read];
      const { status, body } = await post<{ calls: Answer[] }>(`/v1/runs/${runId}/calls`, { calls });
      expect([status, body.calls.map(({ ok }) => ok)]).toEqual([200, [true, true]]);
      expect(sinkState().byKey[`dev/user:alice/${id}`]).toEqual({ attempts: 1, applied: 1 });

      const other = task();
      const second = await clientRun(other);
      const broken = { tool: 'probe.write_item', arguments: {}, providerCallId: 'broken' };
      const failing = { calls: [broken, write('never', { dependsOn: ['broken'] })] };
      const { body: answer } = await post<{ calls: Answer[] }>(`/v1/runs/${second}/calls`, failing);
      expect(answer.calls.map(({ error }) => error?.code)).toEqual(['INVALID_ARGS', 'DEPENDENCY_FAILED']);
      expect(sinkState().byKey[`dev/user:alice/${other}`]).toBeUndefined();
    });

    it('a circle and an unknown name are refused at their places, and nothing is taken', async () => {
      const runId = await clientRun(task());
      const circle = [
        write('a', { providerCallId: 'a', dependsOn: ['b'] }),
        write('b', { providerCallId: 'b', dependsOn: ['a', 'nobody'] }),
      ];
      const { status, body } = await post<{ code: string; details: { path: string }[] }>(`/v1/runs/${runId}/calls`, {
        calls: circle,
      });
      expect([status, body.code]).toEqual([400, 'INVALID_ARGS']);
      expect(body.details.map(({ path }) => path).sort()).toEqual([
        '/calls/0/dependsOn/0',
        '/calls/1/dependsOn/0',
        '/calls/1/dependsOn/1',
      ]);
      const { body: run } = await post<{ outcome: string; calls: unknown[] }>(`/v1/runs/${runId}/finish`, {});
      expect(run).toMatchObject({ status: 'completed', calls: [] });
    });
  });
}
