import { message, type Message } from '#contracts';
import { openGateway, type HttpGateway } from '../../testing/http-gateway.ts';

const digest = `sha256:${'a'.repeat(64)}`;
const approvalId = `appr_${'0'.repeat(26)}`;
const runId = `run_${'0'.repeat(26)}`;
const callId = `call_${'0'.repeat(26)}_0001`;
const pending = {
  approvalId,
  tenant: 'dev',
  runId,
  callId,
  status: 'pending',
  digest,
  approverRoles: ['approver'],
  decidedBy: null,
};

describe('approvals over HTTP', () => {
  let gateway: HttpGateway;
  let view: Record<string, unknown> | null;
  let change: object | null = null;
  const asked: unknown[] = [];
  beforeAll(async () => {
    gateway = await openGateway({
      reads: {
        'policy.approval': ({ tenant }: { tenant: string }) => (tenant === 'dev' ? view : null),
        'policy.approvalChange': () => change,
        'policy.approvals': (args: never) => {
          asked.push(args);
          return { items: [pending], next: null };
        },
      },
    });
  });
  afterAll(() => gateway.close());
  beforeEach(() => {
    view = pending;
    gateway.forget();
  });

  const decide = (change: object = {}, as = 'dev.dev.bob.approver') =>
    gateway.request('POST', `/v1/approvals/${approvalId}/decision`, {
      as,
      body: { decision: 'approved', digest, ...change },
    });
  const context = { tenant: 'dev', runId, callId, now: 0 };
  const decided = ({ data }: Message<'DecideApproval'>) =>
    message('ApprovalDecided', context, {
      commandId: data.commandId,
      approvalId,
      digest,
      decision: data.decision,
      approver: data.principal,
      reason: null,
    });
  const refused = (
    { data }: Message<'DecideApproval'>,
    code: 'APPROVAL_MISMATCH' | 'PERMISSION_DENIED' | 'APPROVAL_EXPIRED',
  ) => message('ApprovalRefused', context, { commandId: data.commandId, approvalId, code, message: 'does not count' });

  it('are shown to who may decide or audit, of the own tenant only (G12)', async () => {
    const list = await gateway.request('GET', '/v1/approvals?status=pending', { as: 'dev.dev.bob.approver' });
    expect(list.body.items).toEqual([{ ...pending, tenant: undefined }].map(({ tenant: _t, ...rest }) => rest));
    expect(asked).toEqual([{ tenant: 'dev', status: 'pending', limit: 50 }]);
    for (const [as, status] of [
      ['dev.dev.bob.approver', 200],
      ['dev.dev.ann.auditor', 200],
      ['dev.dev.alice.agent', 403],
      ['dev.other.bob.approver', 404],
    ] as const) {
      expect((await gateway.request('GET', `/v1/approvals/${approvalId}`, { as })).status).toBe(status);
    }
    expect((await gateway.request('GET', '/v1/approvals/appr_x', { as: 'dev.dev.bob.approver' })).status).toBe(404);
  });

  it('a decision names the digest and the person, and is answered with the approval as it is then', async () => {
    const answering = decide({ reason: 'fine' });
    const command = await gateway.published('DecideApproval');
    expect(command).toMatchObject({ tenant: 'dev', runId, callId });
    expect(command.data).toMatchObject({
      approvalId,
      digest,
      decision: 'approved',
      reason: 'fine',
      principal: { id: 'user:bob', roles: ['approver'] },
    });
    view = { ...pending, status: 'approved', decidedBy: { id: 'user:bob' } };
    await gateway.service.deliver('call.decided', decided(command));
    expect(await answering).toMatchObject({ status: 200, body: { status: 'approved' } });
  });

  it.each([
    ['APPROVAL_MISMATCH', 409],
    ['APPROVAL_EXPIRED', 409],
    ['PERMISSION_DENIED', 403],
  ] as const)('a decision that policy refuses with %s is %i', async (code, status) => {
    const answering = decide();
    await gateway.service.deliver('call.decided', refused(await gateway.published('DecideApproval'), code));
    const answer = await answering;
    expect(answer).toMatchObject({ status, body: { code, detail: 'does not count' } });
    if (status === 409) expect(answer.body.approval).toMatchObject({ digest, status: 'pending' });
  });

  it('the same decision of the same person again is answered as before, without a command', async () => {
    view = { ...pending, status: 'consumed', decidedBy: { id: 'user:bob' } };
    expect(await decide()).toMatchObject({ status: 200, body: { status: 'consumed' } });
    expect(
      gateway.service.take().filter(({ message: m }) => m.type === 'DecideApproval' && m.data.digest !== digest),
    ).toEqual([]);
  });

  it('a decision whose answer was missed is read from policy', async () => {
    const answering = decide();
    await gateway.published('DecideApproval');
    view = { ...pending, status: 'rejected', decidedBy: { id: 'user:carol' } };
    expect(await answering).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_CONFLICT' } });
  });

  it('one of several approvals is answered with who has approved so far; the same again needs no command', async () => {
    view = { ...pending, quorum: 2, approvedBy: [] };
    const answering = decide();
    const { data } = await gateway.published('DecideApproval');
    view = { ...pending, quorum: 2, approvedBy: ['user:bob'] };
    const counted = { commandId: data.commandId, approvalId, digest, approver: data.principal, count: 1, quorum: 2 };
    await gateway.service.deliver('call.decided', message('ApprovalCounted', context, counted));
    expect(await answering).toMatchObject({ status: 200, body: { status: 'pending', approvedBy: ['user:bob'] } });
    gateway.service.take();
    expect(await decide()).toMatchObject({ status: 200 });
    expect(gateway.service.take()).toEqual([]);
  });

  it('a digest that no longer fits is answered with what is asked now, and which bound fields differ (G3)', async () => {
    const current = { ...pending, approvalId: `appr_${'1'.repeat(26)}`, digest: `sha256:${'b'.repeat(64)}` };
    change = { current, changed: ['policyDigest'] };
    const answering = decide();
    const command = await gateway.published('DecideApproval');
    view = { ...pending, status: 'superseded', supersededWhy: 'policy_changed', replacedBy: current.approvalId };
    await gateway.service.deliver('call.decided', refused(command, 'APPROVAL_MISMATCH'));
    const { status, body } = await answering;
    expect([status, body.changed]).toEqual([409, ['policyDigest']]);
    expect(body.current).toMatchObject({ approvalId: current.approvalId });
    expect(JSON.stringify(body)).not.toContain('"tenant"');
    change = null;
  });

  it('is taken back by whoever policy lets, under `act`, and answered as it is then', async () => {
    const answering = gateway.request('POST', `/v1/approvals/${approvalId}/withdraw`, { as: 'dev.dev.alice.agent' });
    const command = await gateway.published('WithdrawApproval');
    expect(command).toMatchObject({ tenant: 'dev', callId, data: { approvalId, principal: { id: 'user:alice' } } });
    view = { ...pending, status: 'withdrawn', decidedBy: 'user:alice' };
    const { commandId, principal } = command.data;
    const fact = message('ApprovalWithdrawn', context, { commandId, approvalId, by: principal, reason: null });
    await gateway.service.deliver('call.decided', fact);
    expect(await answering).toMatchObject({ status: 200, body: { status: 'withdrawn' } });
    expect(
      await gateway.request('POST', `/v1/approvals/${approvalId}/withdraw`, { as: 'dev.other.eve.operator' }),
    ).toMatchObject({ status: 404 });
  });

  it('needs an approver role: the general one, or one that the contract names', async () => {
    expect(await decide({}, 'dev.dev.alice.agent')).toMatchObject({ status: 403 });
    view = { ...pending, approverRoles: ['incident-commander'] };
    const answering = decide({}, 'dev.dev.carol.incident-commander');
    await gateway.service.deliver('call.decided', decided(await gateway.published('DecideApproval')));
    expect((await answering).status).toBe(200);
  });

  it.each([
    [{ decision: 'yes' }, '/decision'],
    [{ digest: 'abc' }, '/digest'],
    [{ principal: 'user:root' }, '/principal'],
  ])('refuses %j', async (change, path) => {
    const answer = await decide(change);
    expect(answer.status).toBe(400);
    expect(answer.body.details).toContainEqual(expect.objectContaining({ path }));
  });
});
