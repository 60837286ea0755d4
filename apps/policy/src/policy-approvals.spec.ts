import { message, type Message, type MessageData } from '#contracts';
import { callIdOf, newId } from '#kernel';
import { KeyRing, verifyGrant, type PublicKeySet } from '#grants';
import { until, type ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import type { ApprovalsPage, ApprovalView } from './adapters/approval-views.query.ts';
import {
  alice,
  askContract,
  bob,
  callProposed,
  callReturned,
  contractOf,
  decideApproval,
  ofType,
  openPolicy,
  typesOf,
  type DecideOver,
} from '../testing/policy-fixture.ts';

const selfContract = contractOf({ name: 'self', approval: { mode: 'always', forbidSelf: false } });
let policy: ServiceHarness;
beforeAll(async () => {
  policy = await openPolicy({ contracts: [selfContract] });
});
afterAll(() => policy.close());
beforeEach(() => policy.take());

const ask = async (over: Parameters<typeof callProposed>[0] = {}) => {
  const proposal = callProposed({ contract: askContract, ...over });
  await policy.deliver('call.proposed', proposal);
  const [asked] = ofType(policy.take(), 'ApprovalRequested');
  return { proposal, asked: asked! };
};
const decide = async (asked: Message<'ApprovalRequested'>, over: DecideOver = {}) => {
  const command = decideApproval(asked, over);
  await policy.deliver('approval.commands', command);
  return { command, published: policy.take() };
};
const refusalOf = ({ published }: Awaited<ReturnType<typeof decide>>) =>
  ofType(published, 'ApprovalRefused')[0]?.data.code;
const viewOf = (asked: Message<'ApprovalRequested'>, tenant = 'dev') =>
  policy.read<ApprovalView | null>('approval', { tenant, approvalId: asked.data.approvalId });
const overdue = (asked: Message<'ApprovalRequested'>) =>
  policy.database.change({
    text: `update approval set expires_at = now() - interval '1 second' where approval_id = $1`,
    values: [asked.data.approvalId],
  });

describe('an approval is asked for', () => {
  it('with everything that the approver decides on; no grant exists before the decision (G3)', async () => {
    const { proposal, asked } = await ask();
    expect(asked.data).toMatchObject({
      decisionNo: 1,
      contractDigest: proposal.data.contractDigest,
      argumentsDigest: proposal.data.argumentsDigest,
      arguments: proposal.data.arguments,
      origins: proposal.data.origins,
      requester: alice,
      approverRoles: ['approver'],
      forbidSelf: true,
      risk: 'low',
      sideEffects: 'reversible',
    });
    expect(Date.parse(asked.data.expiresAt) - Date.parse(asked.occurredAt)).toBe(3_600_000);
    expect(await viewOf(asked)).toMatchObject({
      status: 'pending',
      callId: proposal.callId,
      runId: proposal.runId,
      tenant: 'dev',
      digest: asked.data.digest,
      decidedBy: null,
    });
  });

  it('and its digest changes with anything that it binds', async () => {
    const { asked } = await ask();
    const runId = asked.runId!;
    const digests = [asked.data.digest];
    for (const data of [
      { arguments: { title: 'other' } },
      { resources: ['ticket:2'] },
      { operationKey: 'dev/user:alice/other' },
      { principal: bob },
    ] satisfies Partial<MessageData<'CallProposed'>>[]) {
      digests.push((await ask({ runId: newId('run'), data })).asked.data.digest);
    }
    expect(new Set(digests).size).toBe(digests.length);
    expect(runId).toBe(asked.runId);
  });
});

describe('a decision', () => {
  it('that approves mints a grant which names approval and approver', async () => {
    const { proposal, asked } = await ask();
    const { published } = await decide(asked, { reason: 'fine' });
    expect(published.map((p) => [p.topic, p.message.type])).toEqual([
      ['call.decided', 'ApprovalDecided'],
      ['call.decided', 'CallAllowed'],
      ['call.granted.default', 'CallGranted'],
    ]);
    const ring = new KeyRing({ fetch: () => policy.read<PublicKeySet>('publicKeys', {}) });
    const { claims } = await verifyGrant(ofType(published, 'CallGranted')[0]!.data.grant, ring);
    expect(claims).toMatchObject({
      callId: proposal.callId,
      approvalId: asked.data.approvalId,
      approvers: ['user:bob'],
      decisionNo: 1,
      argsDigest: proposal.data.argumentsDigest,
    });
    expect(await viewOf(asked)).toMatchObject({ status: 'approved', decidedBy: 'user:bob', reason: 'fine' });
  });

  it('that rejects settles the call as denied', async () => {
    const { asked } = await ask();
    const { published } = await decide(asked, { decision: 'rejected', reason: 'no' });
    expect(typesOf(published)).toEqual(['ApprovalDecided', 'CallSettled']);
    expect(ofType(published, 'CallSettled')[0]!.data).toMatchObject({
      settledBy: 'policy',
      status: 'denied',
      approvalId: asked.data.approvalId,
      error: { code: 'APPROVAL_DENIED' },
    });
    expect(await viewOf(asked)).toMatchObject({ status: 'rejected' });
  });

  it.each<[string, DecideOver, string]>([
    ['under a stale digest', { digest: `sha256:${'0'.repeat(64)}` }, 'APPROVAL_MISMATCH'],
    ['by the requester', { principal: { ...alice, roles: ['approver'] } }, 'PERMISSION_DENIED'],
    ['without the approver role', { principal: { ...bob, roles: ['agent'] } }, 'PERMISSION_DENIED'],
    ['from another tenant', { tenant: 'other' }, 'NOT_FOUND'],
    ['about nothing', { approvalId: 'appr_unknown' }, 'NOT_FOUND'],
  ])('%s does not count: the refusal is a fact, nothing changes', async (_name, over, code) => {
    const { asked } = await ask();
    const refused = await decide(asked, over);
    expect(typesOf(refused.published)).toEqual(['ApprovalRefused']);
    expect(refusalOf(refused)).toBe(code);
    expect(await viewOf(asked)).toMatchObject({ status: 'pending' });
    expect(typesOf((await decide(asked)).published)).toContain('CallGranted');
  });

  it('of the requester counts where the contract says so', async () => {
    const { asked } = await ask({ contract: selfContract });
    expect(typesOf((await decide(asked, { principal: { ...alice, roles: ['approver'] } })).published)).toContain(
      'CallGranted',
    );
  });

  it('counts once: another command is a conflict, the same one gets its answer again', async () => {
    const { asked } = await ask();
    const first = await decide(asked);
    expect(refusalOf(await decide(asked, { decision: 'rejected' }))).toBe('IDEMPOTENCY_CONFLICT');
    await policy.deliver('approval.commands', first.command, first.command);
    expect(policy.take()).toEqual(first.published);
    expect(await viewOf(asked)).toMatchObject({ status: 'approved' });
  });

  it('two in one batch: the first counts', async () => {
    const { asked } = await ask();
    await policy.deliver('approval.commands', decideApproval(asked, { decision: 'rejected' }), decideApproval(asked));
    const published = policy.take();
    expect(ofType(published, 'ApprovalDecided').map((m) => m.data.decision)).toEqual(['rejected']);
    expect(ofType(published, 'ApprovalRefused').map((m) => m.data.code)).toEqual(['IDEMPOTENCY_CONFLICT']);
    expect(ofType(published, 'CallGranted')).toEqual([]);
  });

  it('two replicas that get opposite decisions agree on one', async () => {
    const replica = await openPolicy({ url: policy.url });
    for (let round = 0; round < 5; round++) {
      const { asked } = await ask();
      await Promise.all([
        policy.deliver('approval.commands', decideApproval(asked)),
        replica.deliver('approval.commands', decideApproval(asked, { decision: 'rejected' })),
      ]);
      const published = [...policy.take(), ...replica.take()];
      expect(ofType(published, 'ApprovalDecided')).toHaveLength(1);
      expect(ofType(published, 'ApprovalRefused').map((m) => m.data.code)).toEqual(['IDEMPOTENCY_CONFLICT']);
      expect([...ofType(published, 'CallGranted'), ...ofType(published, 'CallSettled')]).toHaveLength(1);
    }
    await replica.close();
  });

  it('that comes long after the run’s deadline still counts: waiting for people costs nothing (P5)', async () => {
    const { asked } = await ask({ data: { runDeadline: Date.now() + 1_000 } });
    const late = await openPolicy({ url: policy.url, clock: { now: () => Date.now() + 1_800_000 } });
    await late.deliver('approval.commands', decideApproval(asked));
    expect(typesOf(late.published)).toContain('CallGranted');
    await late.deliver('call.returned.default', callReturned(asked, 1));
    const [, second] = ofType(late.published, 'CallGranted');
    expect(second!.data.decisionNo).toBe(2);
    await late.close();
  });

  it('under a policy that changed meanwhile does not count: the call is judged, and asked about, again (P6)', async () => {
    const { asked } = await ask();
    await policy.database.change({
      text: `update decision set policy_digest = 'sha256:old' where call_id = $1`,
      values: [asked.callId],
    });
    const refused = await decide(asked);
    expect(refusalOf(refused)).toBe('APPROVAL_MISMATCH');
    const [again] = ofType(refused.published, 'ApprovalRequested');
    expect(again!.data).toMatchObject({ decisionNo: 2 });
    expect(again!.data.approvalId).not.toBe(asked.data.approvalId);
    expect(await viewOf(asked)).toMatchObject({ status: 'superseded' });
    expect(refusalOf(await decide(asked))).toBe('APPROVAL_MISMATCH');
    const { published } = await decide(again!);
    expect(ofType(published, 'CallGranted')[0]!.data.decisionNo).toBe(2);
  });
});

describe('a returned grant of an approved call', () => {
  it('is replaced under the same approval', async () => {
    const { asked } = await ask();
    await decide(asked);
    await policy.deliver('call.returned.default', callReturned(asked, 1));
    const [grant] = ofType(policy.take(), 'CallGranted');
    const ring = new KeyRing({ fetch: () => policy.read<PublicKeySet>('publicKeys', {}) });
    expect((await verifyGrant(grant!.data.grant, ring)).claims).toMatchObject({
      decisionNo: 2,
      approvalId: asked.data.approvalId,
      approvers: ['user:bob'],
    });
  });

  it('asks again when the policy changed: the approval is superseded (P6)', async () => {
    const { asked } = await ask();
    await decide(asked);
    await policy.database.change({
      text: `update decision set policy_digest = 'sha256:old' where call_id = $1`,
      values: [asked.callId],
    });
    await policy.deliver('call.returned.default', callReturned(asked, 1));
    expect(ofType(policy.take(), 'ApprovalRequested')[0]!.data.decisionNo).toBe(2);
    expect(await viewOf(asked)).toMatchObject({ status: 'superseded' });
  });
});

describe('nobody decides', () => {
  it('the approval expires by the database’s clock, once, also with two replicas and after a restart', async () => {
    const { asked } = await ask();
    const { asked: other } = await ask();
    await overdue(asked);
    expect(refusalOf(await decide(asked))).toBe('APPROVAL_EXPIRED');
    const env = { COUNTERSIGN_APPROVAL_SWEEP_MS: '10' };
    const replicas = await Promise.all([openPolicy({ url: policy.url, env }), openPolicy({ url: policy.url, env })]);
    const all = () => replicas.flatMap((replica) => replica.published);
    await Promise.all(replicas.map((replica) => replica.startWorkers()));
    await until(() => ofType(all(), 'CallSettled').length > 0);
    await Promise.all(replicas.map((replica) => replica.close()));
    expect(all().map((p) => [p.topic, p.message.type, p.message.callId])).toEqual([
      ['call.decided', 'ApprovalExpired', asked.callId],
      ['call.decided', 'CallSettled', asked.callId],
    ]);
    expect(ofType(all(), 'CallSettled')[0]!.data).toMatchObject({
      status: 'expired',
      approvalId: asked.data.approvalId,
      error: { code: 'APPROVAL_EXPIRED' },
    });
    expect(await viewOf(asked)).toMatchObject({ status: 'expired' });
    expect(await viewOf(other)).toMatchObject({ status: 'pending' });
    expect(refusalOf(await decide(asked))).toBe('APPROVAL_EXPIRED');
  });

  it('a decision in time and the expiry never both count', async () => {
    const { asked } = await ask();
    await decide(asked);
    await overdue(asked);
    const replica = await openPolicy({ url: policy.url, env: { COUNTERSIGN_APPROVAL_SWEEP_MS: '10' } });
    await replica.startWorkers();
    await replica.close();
    expect(replica.published).toEqual([]);
    expect(await viewOf(asked)).toMatchObject({ status: 'approved' });
  });
});

describe('`consumed`', () => {
  const settle = (
    asked: Message<'ApprovalRequested'>,
    over: Partial<MessageData<'CallSettled'>> = {},
    tenant = 'dev',
  ) =>
    message(
      'CallSettled',
      { tenant, runId: asked.runId!, callId: asked.callId!, now: Date.now() },
      {
        settledBy: 'executor',
        status: 'succeeded',
        tool: asked.data.tool,
        contractDigest: asked.data.contractDigest,
        argumentsDigest: asked.data.argumentsDigest,
        decisionNo: 1,
        approvalId: asked.data.approvalId,
        policyDigest: null,
        operationKeyHash: null,
        effect: 'applied',
        replayed: false,
        attempts: 1,
        durationMs: 1,
        error: null,
        result: null,
        ...over,
      },
    );

  it('is what the pool’s settlement says; another tenant’s or an unused one changes nothing (G12)', async () => {
    const { proposal, asked } = await ask();
    await decide(asked);
    await policy.deliver(
      'call.settled.default',
      settle(asked, {}, 'other'),
      settle(asked, { attempts: 0, status: 'cancelled' }),
    );
    expect(await viewOf(asked)).toMatchObject({ status: 'approved' });
    await policy.deliver('call.settled.default', settle(asked), settle(asked));
    expect(await viewOf(asked)).toMatchObject({ status: 'consumed', decidedBy: 'user:bob' });
    await policy.database.change({
      text: `update decision set grant_expires_at = now() where call_id = $1`,
      values: [asked.callId],
    });
    await policy.deliver('call.proposed', proposal);
    expect(ofType(policy.take(), 'CallGranted').map((g) => g.data.decisionNo)).toEqual([1]);
  });
});

describe('the views', () => {
  it('page through one tenant’s approvals, oldest first, and show no other tenant’s (G12)', async () => {
    const mine = [];
    for (let i = 0; i < 5; i++) mine.push((await ask({ tenant: 'acme' })).asked);
    const { asked: foreign } = await ask({ tenant: 'umbrella' });
    await decide(mine[0]!, { tenant: 'acme' });
    const page = (over: object) => policy.read<ApprovalsPage>('approvals', { tenant: 'acme', ...over });
    const list = async (over: object) => (await page(over)).items.map((view) => view.approvalId);
    const all = await list({});
    expect(all.toSorted()).toEqual(mine.map((a) => a.data.approvalId).sort());
    const firstPage = await page({ limit: 2 });
    const rest = await page({ limit: 200, after: firstPage.next });
    expect([...firstPage.items, ...rest.items].map((view) => view.approvalId)).toEqual(all);
    expect(rest.next).toBeNull();
    expect(await list({ status: 'pending' })).toHaveLength(4);
    expect(await list({ status: 'approved' })).toEqual([mine[0]!.data.approvalId]);
    expect(await viewOf(foreign, 'acme')).toBeNull();
    expect(callIdOf(foreign.runId!, 1)).toBe(foreign.callId);
  });
});
