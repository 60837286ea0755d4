import { message, toolKey, type MessageData, type StandingScope, type ToolContract } from '#contracts';
import { newId } from '#kernel';
import { contractDigest } from '#registry';
import type { ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import { claimsOf, person } from '../testing/approval-scene.ts';
import {
  alice,
  bob,
  callProposed,
  callReturned,
  contractOf,
  ofType,
  openPolicy,
  typesOf,
} from '../testing/policy-fixture.ts';
import type { StandingView } from './adapters/standing-views.query.ts';

const refund = contractOf({
  name: 'refund',
  risk: 'medium',
  sideEffects: 'money',
  amountArgument: 'cents',
  resources: ['order:{order}'],
});
const others = {
  high: contractOf({ name: 'high', risk: 'high' }),
  irreversible: contractOf({ name: 'irreversible', sideEffects: 'irreversible' }),
  'of several people': contractOf({ name: 'several', approval: { mode: 'always', quorum: 2 } }),
};
const contracts = [refund, ...Object.values(others)];

describe('a standing grant', () => {
  let policy: ServiceHarness;
  let replica: ServiceHarness;
  beforeAll(async () => {
    policy = await openPolicy({ contracts });
    replica = await openPolicy({ contracts, url: policy.url });
  });
  afterAll(async () => {
    await replica.close();
    await policy.close();
  });
  beforeEach(() => [policy, replica].map((one) => one.take()));

  const scopeOf = (contract: ToolContract, over: Partial<StandingScope> = {}): StandingScope => ({
    tool: toolKey(contract),
    contractDigest: contractDigest(contract),
    principal: null,
    resources: null,
    maxAmount: 5_000,
    totalAmount: 12_000,
    uses: 10,
    expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
    ...over,
  });
  const give = async (tenant: string, scope: StandingScope = scopeOf(refund), principal = bob) => {
    const standingId = newId('stand');
    const data = { commandId: newId('cmd'), standingId, principal, scope, reason: null };
    await policy.deliver('policy.commands', message('GrantStanding', { tenant, now: Date.now() }, data));
    return { standingId, published: policy.take() };
  };
  const end = async (tenant: string, standingId: string, principal = bob) => {
    const data = { commandId: newId('cmd'), standingId, principal };
    await policy.deliver('policy.commands', message('RevokeStanding', { tenant, now: Date.now() }, data));
    return policy.take();
  };
  let tenants = 0;
  const newTenant = (): string => `team-${++tenants}`;
  const proposalOf = (tenant: string, cents: number, over: Partial<MessageData<'CallProposed'>> = {}) =>
    callProposed({ contract: refund, tenant, data: { arguments: { cents }, resources: ['order:7'], ...over } });
  const propose = async (...args: Parameters<typeof proposalOf>) => {
    const proposal = proposalOf(...args);
    await policy.deliver('call.proposed', proposal);
    return { proposal, published: policy.take() };
  };
  const used = async (tenant: string, standingId: string) => {
    const { used: uses, amountUsed } = await policy.read<StandingView>('standing', { tenant, standingId });
    return [uses, amountUsed];
  };

  it('answers for calls within its scope: each use is one exact grant, counted with its amount (G3)', async () => {
    const tenant = newTenant();
    const { standingId, published: given } = await give(tenant);
    expect(typesOf(given)).toEqual(['StandingGranted']);
    const { proposal, published } = await propose(tenant, 4_000);
    expect(typesOf(published)).toEqual(['CallAllowed', 'CallGranted']);
    expect(ofType(published, 'CallAllowed')[0]!.data.reasons[0]).toBe(`standing:${standingId}`);
    expect(claimsOf(ofType(published, 'CallGranted')[0]!)).toMatchObject({
      standingId,
      callId: proposal.callId,
      argsDigest: proposal.data.argumentsDigest,
    });
    expect(await used(tenant, standingId)).toEqual([1, 4_000]);
    await policy.deliver('call.proposed', proposal);
    expect(policy.take()).toEqual(published);
    expect(await used(tenant, standingId)).toEqual([1, 4_000]);
  });

  it('answers for nothing else: more than one use may cost, more than is left, other resources, people or tenants (G12)', async () => {
    const tenant = newTenant();
    const { standingId } = await give(
      tenant,
      scopeOf(refund, { resources: ['order:*'], principal: alice.id, uses: 2 }),
    );
    const asks = async (...args: Parameters<typeof proposalOf>) =>
      expect(typesOf((await propose(...args)).published)).toEqual(['ApprovalRequested']);
    await asks(tenant, 5_001);
    await asks(tenant, -1);
    await asks(tenant, 100, { resources: ['account:1'] });
    await asks(tenant, 100, { resources: [] });
    await asks(tenant, 100, { principal: person('carol', 'agent') });
    await asks(newTenant(), 100);
    await propose(tenant, 5_000);
    await propose(tenant, 5_000);
    await asks(tenant, 100);
    expect(await used(tenant, standingId)).toEqual([2, 10_000]);
  });

  it('is never used by who gave it, and its sum is not passed by a last large use', async () => {
    const tenant = newTenant();
    const { standingId } = await give(tenant, scopeOf(refund, { totalAmount: 6_000 }));
    const own = await propose(tenant, 100, { principal: { ...bob, roles: ['agent'] } });
    expect(typesOf(own.published)).toEqual(['ApprovalRequested']);
    expect(typesOf((await propose(tenant, 4_000)).published)).toContain('CallGranted');
    expect(typesOf((await propose(tenant, 4_000)).published)).toEqual(['ApprovalRequested']);
    expect(typesOf((await propose(tenant, 2_000)).published)).toContain('CallGranted');
    expect(await used(tenant, standingId)).toEqual([2, 6_000]);
  });

  it('is refused where it must not be: high risk, irreversible, several people, money without bounds, other roles, own calls', async () => {
    const tenant = newTenant();
    const codes = async (...args: Parameters<typeof give>) =>
      ofType((await give(...args)).published, 'StandingRefused').map((m) => m.data.code);
    const none = { maxAmount: null, totalAmount: null };
    for (const contract of Object.values(others))
      expect(await codes(tenant, scopeOf(contract, none))).toEqual(['INVALID_ARGS']);
    expect(await codes(tenant, scopeOf(refund, { totalAmount: null }))).toEqual(['INVALID_ARGS']);
    expect(await codes(tenant, scopeOf(refund, { expiresAt: new Date(0).toISOString() }))).toEqual(['INVALID_ARGS']);
    expect(await codes(tenant, scopeOf(refund), person('eve', 'agent'))).toEqual(['PERMISSION_DENIED']);
    expect(await codes(tenant, scopeOf(refund, { principal: bob.id }))).toEqual(['PERMISSION_DENIED']);
    expect(await codes(tenant, scopeOf(refund, { contractDigest: `sha256:${'0'.repeat(64)}` }))).toEqual([
      'UNKNOWN_TOOL',
    ]);
  });

  it('that was revoked or has expired is used no more; another tenant cannot revoke it (G12)', async () => {
    const tenant = newTenant();
    const { standingId } = await give(tenant);
    expect(ofType(await end('other', standingId), 'StandingRefused').map((m) => m.data.code)).toEqual(['NOT_FOUND']);
    expect(typesOf((await propose(tenant, 1)).published)).toContain('CallGranted');
    expect(typesOf(await end(tenant, standingId))).toEqual(['StandingRevoked']);
    expect(typesOf((await propose(tenant, 1)).published)).toEqual(['ApprovalRequested']);
    const { standingId: second } = await give(tenant);
    await policy.database.change({
      text: `update standing_grant set expires_at = now() where standing_id = $1`,
      values: [second],
    });
    expect(typesOf((await propose(tenant, 1)).published)).toEqual(['ApprovalRequested']);
  });

  it('is not overspent by two replicas at once, nor counted twice for one call', async () => {
    const tenant = newTenant();
    const { standingId } = await give(tenant, scopeOf(refund, { uses: 3 }));
    const calls = Array.from({ length: 8 }, () => proposalOf(tenant, 1_000));
    await Promise.all([
      policy.deliver('call.proposed', ...calls),
      replica.deliver('call.proposed', ...calls.toReversed()),
      ...calls.map((one) => policy.deliver('call.proposed', one)),
    ]);
    const published = [...policy.take(), ...replica.take()];
    const granted = new Set(ofType(published, 'CallGranted').map((m) => m.callId));
    const asked = new Set(ofType(published, 'ApprovalRequested').map((m) => m.callId));
    expect([granted.size, asked.size]).toEqual([3, 5]);
    expect(await used(tenant, standingId)).toEqual([3, 3_000]);
  });

  it('gets a use back only by a settlement of the pool that proves no effect', async () => {
    const tenant = newTenant();
    const { standingId } = await give(tenant);
    const { proposal } = await propose(tenant, 1_000);
    const settled = (over: Partial<MessageData<'CallSettled'>>, by = tenant) =>
      policy.deliver(
        'call.settled.default',
        message(
          'CallSettled',
          { tenant: by, runId: proposal.runId!, callId: proposal.callId!, now: Date.now() },
          {
            settledBy: 'executor',
            status: 'failed',
            tool: proposal.data.tool,
            contractDigest: proposal.data.contractDigest,
            argumentsDigest: proposal.data.argumentsDigest,
            decisionNo: 1,
            approvalId: null,
            policyDigest: null,
            operationKeyHash: null,
            effect: 'none',
            replayed: false,
            attempts: 1,
            durationMs: 1,
            error: null,
            result: null,
            ...over,
          },
        ),
      );
    await settled({}, 'other');
    await settled({ status: 'outcome_unknown', effect: 'unknown' });
    expect(await used(tenant, standingId)).toEqual([1, 1_000]);
    await settled({});
    await settled({});
    expect(await used(tenant, standingId)).toEqual([0, 0]);
  });

  it('gets a use back when it is found out later that an unknown outcome had no effect, and only then (G9)', async () => {
    const tenant = newTenant();
    const { standingId } = await give(tenant);
    const { proposal } = await propose(tenant, 1_000);
    const reconciled = (status: 'needs_human' | 'failed', effect: 'unknown' | 'none') => {
      const data = {
        amendment: 1,
        reconciledBy: 'probe',
        status,
        effect,
        tool: proposal.data.tool,
        contractDigest: proposal.data.contractDigest,
        operationKeyHash: 'hash',
        commandId: null,
        principal: null,
        proposed: null,
        evidence: 'looked',
        evidenceDigest: proposal.data.contractDigest,
        error: null,
        result: null,
      } as const;
      const context = { tenant, runId: proposal.runId!, callId: proposal.callId!, now: Date.now() };
      return policy.deliver('call.settled.default', message('CallReconciled', context, data));
    };
    await reconciled('needs_human', 'unknown');
    expect(await used(tenant, standingId)).toEqual([1, 1_000]);
    await reconciled('failed', 'none');
    expect(await used(tenant, standingId)).toEqual([0, 0]);
  });

  it('grants a returned use again while it lives; afterwards a person is asked and the use comes back (P3)', async () => {
    const tenant = newTenant();
    const { standingId } = await give(tenant);
    const { proposal } = await propose(tenant, 1_000);
    await policy.deliver('call.returned.default', callReturned(proposal, 1));
    expect(claimsOf(ofType(policy.take(), 'CallGranted')[0]!)).toMatchObject({ standingId, decisionNo: 2 });
    await end(tenant, standingId);
    await policy.deliver('call.returned.default', callReturned(proposal, 2));
    expect(typesOf(policy.take())).toEqual(['ApprovalRequested']);
    expect(await used(tenant, standingId)).toEqual([0, 0]);
  });
});
