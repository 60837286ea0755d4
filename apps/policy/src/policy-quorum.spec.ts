import type { ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import { approvalScene, claimsOf, person } from '../testing/approval-scene.ts';
import { alice, bob, contractOf, decideApproval, ofType, openPolicy, typesOf } from '../testing/policy-fixture.ts';

const contract = contractOf({ name: 'pay', approval: { mode: 'always', quorum: 2 } });
const [carol, dave] = [person('carol'), person('dave')];

describe('an approval that several people must give (G3)', () => {
  let policy: ServiceHarness;
  let replica: ServiceHarness;
  let scene: ReturnType<typeof approvalScene>;
  beforeAll(async () => {
    policy = await openPolicy({ contracts: [contract] });
    replica = await openPolicy({ contracts: [contract], url: policy.url });
    scene = approvalScene(policy);
  });
  afterAll(async () => {
    await replica.close();
    await policy.close();
  });
  beforeEach(() => [policy, replica].map((one) => one.take()));
  const ask = async () => (await scene.ask({ contract })).asked;

  it('counts each one, grants with the last, and names all of them in the grant', async () => {
    const asked = await ask();
    expect(asked.data.quorum).toBe(2);
    const first = await scene.decide(asked);
    expect(ofType(first.published, 'ApprovalCounted').map((m) => m.data)).toMatchObject([
      { count: 1, quorum: 2, approver: bob, approvalId: asked.data.approvalId },
    ]);
    expect(typesOf(first.published)).toEqual(['ApprovalCounted']);
    expect(await scene.view(asked)).toMatchObject({ status: 'pending', quorum: 2, approvedBy: ['user:bob'] });
    const second = await scene.decide(asked, { principal: carol });
    expect(typesOf(second.published)).toEqual(['ApprovalDecided', 'CallAllowed', 'CallGranted']);
    expect(claimsOf(ofType(second.published, 'CallGranted')[0]!).approvers).toEqual(['user:bob', 'user:carol']);
    expect(await scene.view(asked)).toMatchObject({ status: 'approved', approvedBy: ['user:bob', 'user:carol'] });
  });

  it('a person counts once, by whichever command; the same command gets its answer again', async () => {
    const asked = await ask();
    const first = await scene.decide(asked);
    const again = await scene.decide(asked);
    expect(ofType(again.published, 'ApprovalRefused').map((m) => m.data.code)).toEqual(['IDEMPOTENCY_CONFLICT']);
    await policy.deliver('approval.commands', first.command);
    expect(policy.take()).toEqual(first.published);
    await policy.deliver('approval.commands', decideApproval(asked), decideApproval(asked));
    expect(typesOf(policy.take())).toEqual(['ApprovalRefused', 'ApprovalRefused']);
    expect(await scene.view(asked)).toMatchObject({ status: 'pending', approvedBy: ['user:bob'] });
  });

  it('neither the requester nor one without the role counts', async () => {
    const asked = await ask();
    await scene.decide(asked);
    const own = await scene.decide(asked, { principal: { ...alice, roles: ['approver'] } });
    const without = await scene.decide(asked, { principal: person('eve', 'agent') });
    expect([...own.published, ...without.published].map((p) => p.message.type)).toEqual([
      'ApprovalRefused',
      'ApprovalRefused',
    ]);
    expect(await scene.view(asked)).toMatchObject({ status: 'pending', approvedBy: ['user:bob'] });
  });

  it('one rejection rejects, also after an approval and also by who approved', async () => {
    for (const principal of [carol, bob]) {
      const asked = await ask();
      await scene.decide(asked);
      const { published } = await scene.decide(asked, { principal, decision: 'rejected' });
      expect(ofType(published, 'CallSettled')[0]!.data).toMatchObject({ error: { code: 'APPROVAL_DENIED' } });
      expect(await scene.view(asked)).toMatchObject({ status: 'rejected' });
    }
  });

  it('three people on two replicas at once: two are counted, one grant is minted', async () => {
    for (let round = 0; round < 5; round++) {
      const asked = await ask();
      await Promise.all([
        policy.deliver('approval.commands', decideApproval(asked)),
        replica.deliver('approval.commands', decideApproval(asked, { principal: carol })),
        policy.deliver('approval.commands', decideApproval(asked, { principal: dave })),
      ]);
      const published = [...policy.take(), ...replica.take()];
      expect(typesOf(published)).toEqual([
        'ApprovalCounted',
        'ApprovalDecided',
        'ApprovalRefused',
        'CallAllowed',
        'CallGranted',
      ]);
      expect(new Set(claimsOf(ofType(published, 'CallGranted')[0]!).approvers as string[]).size).toBe(2);
    }
  });

  it('the same person on two replicas at once counts once', async () => {
    for (let round = 0; round < 5; round++) {
      const asked = await ask();
      await Promise.all([policy, replica].map((one) => one.deliver('approval.commands', decideApproval(asked))));
      expect(typesOf([...policy.take(), ...replica.take()])).toEqual(['ApprovalCounted', 'ApprovalRefused']);
      expect(await scene.view(asked)).toMatchObject({ status: 'pending', approvedBy: ['user:bob'] });
    }
  });
});
