import { randomBytes } from 'node:crypto';
import { until } from '../../libs/runtime/testing/service-harness.ts';
import { planText } from './plan.script.ts';
import { ask, type System } from './system.ts';

interface Approval {
  approvalId: string;
  runId: string;
  callId: string;
  digest: string;
  arguments: { item: string };
  status: string;
  replacedByCall: string | null;
  edited?: { callId: string; by: string };
}
interface Answer {
  ok: boolean;
  callId: string;
  replacedBy?: string | null;
}
interface Sink {
  byKey: Record<string, { attempts: number; applied: number }>;
  byItem: Record<string, unknown>;
}

const task = (): string => `task-${randomBytes(6).toString('hex')}`;

/** What people propose instead of what was asked; the same in every mode. */
export function approvalEditsSuite(system: () => System, sinkState: () => Sink): void {
  const post = <T>(person: string, path: string, body: object, headers: Record<string, string> = {}) =>
    ask<T>(system(), person, 'POST', path, body, headers);
  const pending = (of: (approval: Approval) => boolean): Promise<Approval> =>
    until(async () =>
      (await ask<{ items: Approval[] }>(system(), 'bob', 'GET', '/v1/approvals?status=pending')).body.items.find(of),
    );
  const decide = <T = Approval>(person: string, { approvalId, digest }: Approval, own: object) =>
    post<T>(person, `/v1/approvals/${approvalId}/decision`, { digest, ...own });

  describe('an edited approval', () => {
    it('answers the caller of a direct call with what ran after another person approved it (G3, G7)', async () => {
      const id = task();
      const body = { tool: 'probe.guarded_write', arguments: { item: `first-${id}` }, taskId: id };
      const calling = post<Answer>('alice', '/v1/calls', body, { prefer: 'wait=60' });
      const key = `dev/user:alice/${id}:guarded`;
      const asked = await pending(({ arguments: args }) => args.item === body.arguments.item);

      const wrong = await decide<{ details: { path: string }[] }>('bob', asked, {
        decision: 'edited',
        arguments: { item: 7 },
      });
      expect([wrong.status, wrong.body.details.map(({ path }) => path)]).toEqual([400, ['/arguments/item']]);
      const edit = { decision: 'edited', arguments: { item: `second-${id}` }, reason: 'the other one' };
      expect((await decide('alice', asked, edit)).status).toBe(403);
      const { status, body: edited } = await decide('bob', asked, edit);
      expect([status, edited.status]).toEqual([200, 'superseded']);

      const again = await pending(({ callId }) => callId === edited.replacedByCall);
      expect(again.edited).toEqual({ callId: asked.callId, by: 'user:bob' });
      expect((await decide('bob', again, { decision: 'approved' })).status).toBe(403);
      expect(sinkState().byKey[key]).toBeUndefined();
      expect((await decide('mallory', again, { decision: 'approved' })).status).toBe(200);

      const answer = await calling;
      expect(answer.body).toMatchObject({ ok: true, callId: again.callId, data: { item: `second-${id}` } });
      expect(sinkState().byKey[key]).toEqual({ attempts: 1, applied: 1 });
      const first = await ask<{ result: Answer }>(system(), 'alice', 'GET', `/v1/calls/${asked.callId}`);
      expect(first.body.result).toMatchObject({ ok: false, replacedBy: again.callId });
    }, 90_000);

    it('gives the model one result for its proposal, with the arguments that ran (G10)', async () => {
      const id = task();
      const plan = planText({ turns: [[{ tool: 'probe.guarded_write', arguments: { item: `first-${id}` } }]] });
      const { body } = await post<{ runId: string }>('alice', '/v1/runs', {
        agent: 'guarded',
        input: plan,
        taskId: id,
      });
      const asked = await pending(({ runId }) => runId === body.runId);
      const { body: edited } = await decide('bob', asked, { decision: 'edited', arguments: { item: `second-${id}` } });
      const again = await pending(({ callId }) => callId === edited.replacedByCall);
      await decide('mallory', again, { decision: 'approved' });
      const run = await until(async () => {
        const { body: view } = await ask<{ status: string; answer: string; outcome: string; calls: unknown[] }>(
          system(),
          'alice',
          'GET',
          `/v1/runs/${body.runId}`,
        );
        return view.status === 'completed' ? view : null;
      });
      expect(run.outcome).toBe('all_succeeded');
      expect(run.calls).toMatchObject([{ callId: asked.callId }, { callId: again.callId, status: 'succeeded' }]);
      expect(run.answer.match(/A person changed the arguments/g)).toHaveLength(1);
      expect(run.answer).toContain(`"item":"second-${id}"`);
      expect(run.answer).not.toContain(`first-${id}`);
      expect(sinkState().byKey[`dev/user:alice/${id}:guarded`]).toEqual({ attempts: 1, applied: 1 });
      await until(async () => {
        const { body: page } = await ask<{ items: { type: string; data: { approval_id?: string } }[] }>(
          system(),
          'ann',
          'GET',
          `/v1/audit?runId=${body.runId}&limit=200`,
        );
        return page.items?.some(({ type }) => type === 'dev.countersign.approval.edited.v1');
      });
    }, 90_000);
  });
}
