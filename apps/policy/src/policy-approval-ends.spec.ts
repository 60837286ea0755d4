import { until, type ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import { approvalScene, claimsOf, person, policyWorkspace, withdrawal } from '../testing/approval-scene.ts';
import {
  askContract,
  callReturned,
  contractOf,
  decideApproval,
  ofType,
  openPolicy,
  typesOf,
} from '../testing/policy-fixture.ts';

let policy: ServiceHarness;
let scene: ReturnType<typeof approvalScene>;
const risky = contractOf({ name: 'risky', risk: 'medium' });
const contracts = [risky];
beforeAll(async () => {
  policy = await openPolicy({ contracts });
  scene = approvalScene(policy);
});
afterAll(() => policy.close());
beforeEach(() => policy.take());

describe('a request that is taken back', () => {
  it('by who asked or by an operator ends the call as cancelled; a yes that comes later grants nothing (G3, G9)', async () => {
    for (const principal of [undefined, person('olga', 'operator')]) {
      const { asked } = await scene.ask();
      const published = await scene.withdraw(asked, principal);
      expect(typesOf(published)).toEqual(['ApprovalWithdrawn', 'CallSettled']);
      expect(ofType(published, 'CallSettled')[0]!.data).toMatchObject({
        status: 'cancelled',
        effect: 'none',
        error: { code: 'CANCELLED' },
      });
      expect(await scene.view(asked)).toMatchObject({ status: 'withdrawn' });
      expect(typesOf((await scene.decide(asked)).published)).toEqual(['ApprovalRefused']);
    }
  });

  it('by anybody else, from another tenant, or after the decision stays (G12)', async () => {
    const { asked } = await scene.ask();
    const refusals = [
      ...(await scene.withdraw(asked, person('bob'))),
      ...(await scene.withdraw(asked, undefined, 'other')),
    ];
    await scene.decide(asked);
    refusals.push(...(await scene.withdraw(asked)));
    expect(ofType(refusals, 'ApprovalRefused').map((m) => m.data.code)).toEqual([
      'PERMISSION_DENIED',
      'NOT_FOUND',
      'IDEMPOTENCY_CONFLICT',
    ]);
    expect(await scene.view(asked)).toMatchObject({ status: 'approved' });
  });

  it('and a decision at the same moment: one of them counts', async () => {
    const replica = await openPolicy({ contracts, url: policy.url });
    for (let round = 0; round < 5; round++) {
      const { asked } = await scene.ask();
      await Promise.all([
        policy.deliver('approval.commands', decideApproval(asked)),
        replica.deliver('approval.commands', withdrawal(asked)),
      ]);
      const published = [...policy.take(), ...replica.take()];
      expect(ofType(published, 'ApprovalRefused')).toHaveLength(1);
      expect([...ofType(published, 'CallGranted'), ...ofType(published, 'CallSettled')]).toHaveLength(1);
    }
    await replica.close();
  });
});

describe('an approval that expires after the decision (G3)', () => {
  it('bounds its grant: no grant outlives it', async () => {
    const { asked } = await scene.ask({ data: { approvalTtlMs: 20_000 } });
    const { published } = await scene.decide(asked);
    const claims = claimsOf(ofType(published, 'CallGranted')[0]!);
    expect(claims.exp).toBe(Math.floor(Date.parse(asked.data.expiresAt) / 1000));
  });

  it('has no effect any more when its grant comes back: the call ends as APPROVAL_EXPIRED', async () => {
    const { asked } = await scene.ask();
    await scene.decide(asked);
    await policy.database.change({
      text: `update approval set expires_at = now() - interval '1 second' where approval_id = $1`,
      values: [asked.data.approvalId],
    });
    await policy.deliver('call.returned.default', callReturned(asked, 1));
    const published = policy.take();
    expect(typesOf(published)).toEqual(['ApprovalExpired', 'CallSettled']);
    expect(ofType(published, 'CallSettled')[0]!.data).toMatchObject({
      status: 'expired',
      approvalId: asked.data.approvalId,
      error: { code: 'APPROVAL_EXPIRED' },
    });
    expect(await scene.view(asked)).toMatchObject({ status: 'expired', decidedBy: 'user:bob' });
    await policy.deliver('call.returned.default', callReturned(asked, 1));
    expect(typesOf(policy.take())).toEqual(['CallSettled']);
  });

  it('a decision in its last moment, when no whole second is left to run in, comes too late', async () => {
    const { asked } = await scene.ask();
    const lastSecond = Math.floor(Date.parse(asked.data.expiresAt) / 1000) * 1000;
    const late = await openPolicy({ url: policy.url, clock: { now: () => lastSecond } });
    await late.deliver('approval.commands', decideApproval(asked));
    expect(ofType(late.take(), 'ApprovalRefused').map((m) => m.data.code)).toEqual(['APPROVAL_EXPIRED']);
    await late.close();
  });
});

describe('policy changes while a request waits', () => {
  const startWith = async (cedar: string) => {
    const workspace = policyWorkspace(cedar);
    const changed = await openPolicy({
      contracts,
      url: policy.url,
      env: { COUNTERSIGN_WORKSPACES: workspace.folder },
    });
    await changed.startWorkers();
    await until(() => ofType(changed.published, 'ApprovalSuperseded').length > 0);
    await changed.settle();
    return {
      changed,
      close: async () => {
        await changed.close();
        workspace.remove();
      },
    };
  };
  const end = () =>
    policy.database.change({ text: `update approval set status = 'withdrawn' where status = 'pending'` });
  beforeEach(() => end());

  it('denied now: the call ends so, though nobody decided (G3)', async () => {
    const { asked } = await scene.ask();
    const { changed, close } = await startWith(
      '@id("no") forbid (principal, action, resource == Tool::"tickets.ask");',
    );
    expect(typesOf(changed.published)).toEqual(['ApprovalSuperseded', 'CallSettled']);
    expect(ofType(changed.published, 'ApprovalSuperseded')[0]!.data).toEqual({
      approvalId: asked.data.approvalId,
      why: 'policy_denies',
      replacedBy: null,
    });
    expect(ofType(changed.published, 'CallSettled')[0]!.data).toMatchObject({
      status: 'denied',
      error: { code: 'PERMISSION_DENIED' },
    });
    expect(await scene.view(asked)).toMatchObject({ status: 'superseded', supersededWhy: 'policy_denies' });
    await close();
  });

  it('asked for still: another request takes the place, the old digest counts no more, and the view names both', async () => {
    const { asked } = await scene.ask();
    const { changed, close } = await startWith('@id("more") permit (principal, action == Action::"call", resource);');
    const [again] = ofType(changed.published, 'ApprovalRequested');
    expect(ofType(changed.published, 'ApprovalSuperseded')[0]!.data).toEqual({
      approvalId: asked.data.approvalId,
      why: 'policy_changed',
      replacedBy: again!.data.approvalId,
    });
    expect(again!.data).toMatchObject({ decisionNo: 2, argumentsDigest: asked.data.argumentsDigest });
    expect(await scene.view(asked)).toMatchObject({ status: 'superseded', replacedBy: again!.data.approvalId });
    changed.take();
    await changed.deliver('approval.commands', decideApproval(asked), decideApproval(again!));
    const published = changed.take();
    expect(ofType(published, 'ApprovalRefused').map((m) => m.data.code)).toEqual(['APPROVAL_MISMATCH']);
    expect(ofType(published, 'CallGranted').map((m) => m.data.decisionNo)).toEqual([2]);
    await close();
  });

  it('allowed without a person now: it is granted, and nobody need decide', async () => {
    const { asked } = await scene.ask({ contract: risky });
    const { changed, close } = await startWith(
      '@id("calm") permit (principal, action == Action::"call_unattended", resource == Tool::"tickets.risky");',
    );
    expect(typesOf(changed.published)).toEqual(['ApprovalSuperseded', 'CallAllowed', 'CallGranted']);
    expect(await scene.view(asked)).toMatchObject({ status: 'superseded', supersededWhy: 'policy_allows' });
    await close();
  });

  it('what was asked by the policies in force stays as it is, over any number of starts', async () => {
    const { asked } = await scene.ask({ contract: askContract });
    const same = await openPolicy({ contracts, url: policy.url });
    await same.startWorkers();
    await same.close();
    expect(same.published).toEqual([]);
    expect(await scene.view(asked)).toMatchObject({ status: 'pending' });
  });
});
