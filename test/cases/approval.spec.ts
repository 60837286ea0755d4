import { until } from '../../libs/runtime/testing/service-harness.ts';
import { planText, type PlannedCall } from '../e2e/plan.script.ts';
import { ask } from '../e2e/system.ts';
import { openApprovalWorld, type ApprovalWorld } from './approval-world.ts';
import { loadCases, type Case } from './expand-case.ts';

interface GivenCall {
  readonly callId: string;
  readonly tool: string;
  readonly arguments: Record<string, unknown>;
}
interface Step {
  readonly do: string;
  readonly run?: string;
  readonly calls?: readonly GivenCall[];
  readonly claims?: GivenCall & { approved: boolean };
}
interface Approval {
  readonly approvalId: string;
  readonly callId: string;
  readonly runId: string;
  readonly digest: string;
  readonly status: string;
  readonly arguments: Record<string, unknown>;
  readonly expiresAt: string;
  readonly decidedBy: string | null;
}
interface RunView {
  readonly runId: string;
  readonly status: string;
  readonly calls: readonly { callId: string; status: string; errorCode: string | null }[];
}

const cases = new Map(loadCases('approval').map((one) => [one.id, one]));
const stepsOf = (one: Case): Step[] => one.given.steps as Step[];

/** The people and the model of a case, against the whole installation. */
const scene = ({ system }: ApprovalWorld) => {
  const start = async (calls: readonly GivenCall[]): Promise<string> => {
    const turn = calls.map(({ tool, arguments: args }): PlannedCall => ({ tool: `cases.${tool}`, arguments: args }));
    const body = { agent: 'cases', input: planText({ turns: [turn] }) };
    return (await ask<{ runId: string }>(system, 'alice', 'POST', '/v1/runs', body)).body.runId;
  };
  const list = async (query: string): Promise<Approval[]> =>
    (await ask<{ items: Approval[] }>(system, 'bob', 'GET', `/v1/approvals?limit=200${query}`)).body.items;
  const pending = (runId: string, count: number): Promise<Approval[]> =>
    until(async () => {
      const found = (await list('&status=pending')).filter((approval) => approval.runId === runId);
      return found.length === count ? found : null;
    });
  const decide = (approval: Approval, decision: string, person = 'bob', digest = approval.digest) =>
    ask(system, person, 'POST', `/v1/approvals/${approval.approvalId}/decision`, { decision, digest });
  const run = async (runId: string): Promise<RunView> =>
    (await ask<RunView>(system, 'alice', 'GET', `/v1/runs/${runId}`)).body;
  const callOf = (runId: string, callId: string, status: string) =>
    until(async () => (await run(runId)).calls?.find((call) => call.callId === callId && call.status === status));
  const ended = (runId: string, status: string) =>
    until(async () => {
      const view = await run(runId);
      return view.status === status ? view : null;
    });
  return { start, list, pending, decide, run, callOf, ended };
};

describe('cases: approvals', () => {
  let world: ApprovalWorld;
  afterEach(() => world.close());
  const open = async (id: string, ttlMs?: number) => {
    world = await openApprovalWorld(cases.get(id)!, ttlMs);
    return { one: cases.get(id)!, ...scene(world) };
  };

  it('every case is asked here', () => {
    expect([...cases.keys()]).toEqual(['B044', 'B046', 'B047', 'B049']);
    world = { close: () => Promise.resolve() } as ApprovalWorld;
  });

  it('B044: three calls have three approvals; approving one runs that one only, and the model waits for all', async () => {
    const { one, start, pending, decide, callOf, run } = await open('B044');
    const [given] = stepsOf(one);
    const runId = await start(given!.calls!);
    const asked = await pending(runId, 3);
    expect(new Set(asked.map((approval) => approval.approvalId)).size).toBe(one.expect.distinctApprovalIds);
    const second = asked.find((approval) => approval.arguments.id === 'case-2')!;
    expect((await decide(second, 'approved')).status).toBe(200);
    await callOf(runId, second.callId, 'succeeded');
    const view = await run(runId);
    expect(view.calls.map(({ status }) => status).sort()).toEqual(['asked', 'asked', 'succeeded']);
    expect(view.status).toBe(one.expect.run);
    expect(world.effects.open_file).toEqual([{ id: 'case-2' }]);
    expect(world.providerRequests()).toBe(one.expect.providerRequests);
  }, 60_000);

  it('B046: of several decisions at once exactly one counts, and the call runs at most once', async () => {
    const { one, start, pending, decide, callOf } = await open('B046');
    const [given] = stepsOf(one);
    let approvals = 0;
    for (let round = 0; round < (one.given.repeatTest as number); round++) {
      const runId = await start(given!.calls!);
      const [asked] = await pending(runId, 1);
      const order = round % 2 === 0 ? ['approved', 'approved', 'rejected'] : ['rejected', 'approved', 'approved'];
      const answers = await Promise.all(
        order.map((decision, i) => decide(asked!, decision, ['bob', 'bob', 'mallory'][i])),
      );
      const late = await decide(asked!, 'approved', 'bob');
      const recorded = world.system.seen.filter(
        ({ message: m }) => m.type === 'ApprovalDecided' && m.callId === asked!.callId,
      );
      expect(recorded).toHaveLength(one.expect.decisionsRecorded as number);
      const { decision, approver } = recorded[0]!.message.data as unknown as {
        decision: string;
        approver: { id: string };
      };
      for (const [i, answer] of [...answers, late].entries()) {
        const wanted = [...order, 'approved'][i]!;
        if (answer.status === 200) expect([wanted, approver.id]).toEqual([decision, expect.any(String)]);
        else
          expect([answer.status, answer.body.approval]).toEqual([
            409,
            expect.objectContaining({ callId: asked!.callId }),
          ]);
      }
      if (decision === 'approved') approvals++;
      await callOf(runId, asked!.callId, decision === 'approved' ? 'succeeded' : 'denied');
      expect(world.effects.open_issue).toHaveLength(approvals);
    }
  }, 180_000);

  it('B047: what a client sends along creates and changes no approved call', async () => {
    const { one, start, pending, list, decide, callOf } = await open('B047');
    const steps = stepsOf(one);
    const runId = await start(steps[0]!.calls!);
    const [asked] = await pending(runId, 1);
    const propose = (body: object) => ask<{ callId: string }>(world.system, 'alice', 'POST', '/v1/calls', body);
    const [first, second] = [steps[1]!.claims!, steps[2]!.claims!];
    expect((await propose({ ...first, tool: `cases.${first.tool}` })).status).toBe(400);
    const made = await propose({ tool: `cases.${second.tool}`, arguments: second.arguments, taskId: 'made-up' });
    expect(made.body.callId).not.toBe(second.callId);
    await until(async () => (await list('&status=pending')).find((approval) => approval.callId === made.body.callId));
    const foreign = (await list('&status=pending')).find((approval) => approval.callId === made.body.callId)!;
    const wrong = await decide(asked!, 'approved', 'bob', foreign.digest);
    expect([wrong.status, wrong.body.code]).toEqual([409, 'APPROVAL_MISMATCH']);
    const edited = { decision: 'approved', digest: asked!.digest, arguments: first.arguments };
    expect((await ask(world.system, 'bob', 'POST', `/v1/approvals/${asked!.approvalId}/decision`, edited)).status).toBe(
      400,
    );
    expect(world.effects.transfer).toEqual([]);
    await until(async () => {
      const { body } = await ask<{ items: { type: string }[] }>(
        world.system,
        'ann',
        'GET',
        `/v1/audit?callId=${asked!.callId}`,
      );
      return body.items.some(({ type }) => type === 'dev.countersign.approval.refused.v1');
    });
    expect((await decide(asked!, 'approved')).status).toBe(200);
    await callOf(runId, asked!.callId, 'succeeded');
    expect(world.effects.transfer).toEqual([steps[0]!.calls![0]!.arguments]);
  }, 60_000);

  it('B049: an approval that is over by the time of dispatch has no effect, and an expired request cannot be approved', async () => {
    const { one, start, pending, decide, callOf, ended } = await open('B049', 5_000);
    const started = stepsOf(one).filter((step) => step.do === 'model_calls');
    const [r1, r2, r3] = await Promise.all(started.map((step) => start(step.calls!)));
    const [ex1, ex2, ex3] = (await Promise.all([r1!, r2!, r3!].map((runId) => pending(runId, 1)))).flat();
    // The source holds the one tool's only place, so that the approved ex1 comes to its dispatch after its expiry.
    world.hold();
    expect((await decide(ex3!, 'approved')).status).toBe(200);
    await until(() => world.effects.restart_service!.length === 1);
    expect((await decide(ex1!, 'approved')).status).toBe(200);
    await callOf(r2!, ex2!.callId, 'expired');
    expect(Date.now()).toBeGreaterThan(Date.parse(ex2!.expiresAt));
    const late = await decide(ex2!, 'approved');
    expect([late.status, late.body.code]).toEqual([409, 'APPROVAL_EXPIRED']);
    await until(() => Date.now() > Date.parse(ex1!.expiresAt));
    world.release();
    await callOf(r3!, ex3!.callId, 'succeeded');
    await callOf(r1!, ex1!.callId, 'expired');
    const runs = await Promise.all([r1!, r2!, r3!].map((runId) => ended(runId, 'completed')));
    expect(runs.map((run) => run.calls[0]!.errorCode)).toEqual(['APPROVAL_EXPIRED', 'APPROVAL_EXPIRED', null]);
    expect(world.effects.restart_service).toEqual([{ svc: 'c' }]);
  }, 60_000);
});
