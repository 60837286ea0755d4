import { message, type Message } from '#contracts';
import type { ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import type { ApprovalView } from './adapters/approval-views.query.ts';
import { askContract, callProposed, decideApproval, ofType, openPolicy, typesOf } from '../testing/policy-fixture.ts';

const withdrawal = (of: Message<'CallProposed'>, tenant = of.tenant) =>
  message(
    'WithdrawCall',
    { tenant, runId: of.runId!, callId: of.callId!, now: Date.now() },
    { principal: 'user:alice' },
  );

describe('a call of a run that was cancelled', () => {
  let policy: ServiceHarness;
  beforeAll(async () => {
    policy = await openPolicy();
  });
  afterAll(() => policy.close());
  beforeEach(() => policy.take());

  const ask = async () => {
    const proposal = callProposed({ contract: askContract });
    await policy.deliver('call.proposed', proposal);
    const [asked] = ofType(policy.take(), 'ApprovalRequested');
    return { proposal, asked: asked! };
  };
  const statusOf = async (asked: Message<'ApprovalRequested'>) =>
    (await policy.read<ApprovalView>('approval', { tenant: 'dev', approvalId: asked.data.approvalId })).status;

  it('ends while it waits for a person; a yes that comes later grants nothing (G3, G9)', async () => {
    const { proposal, asked } = await ask();
    await policy.deliver('call.proposed', withdrawal(proposal));
    expect(ofType(policy.take(), 'CallSettled')).toMatchObject([
      { callId: proposal.callId, data: { status: 'cancelled', effect: 'none', error: { code: 'CANCELLED' } } },
    ]);
    expect(await statusOf(asked)).toBe('withdrawn');
    await policy.deliver('approval.commands', decideApproval(asked));
    expect(typesOf(policy.take())).toEqual(['ApprovalRefused']);
    await policy.deliver('call.proposed', proposal); // a repeat is answered by what stands
    expect(ofType(policy.take(), 'CallSettled')).toMatchObject([{ data: { status: 'cancelled' } }]);
  });

  it('withdrawn in the batch that proposes it, or twice, is settled once', async () => {
    const proposal = callProposed({ contract: askContract });
    await policy.deliver('call.proposed', withdrawal(proposal), proposal, withdrawal(proposal));
    expect(ofType(policy.take(), 'CallSettled')).toMatchObject([{ data: { status: 'cancelled' } }]);
    await policy.deliver('call.proposed', withdrawal(proposal));
    expect(policy.take()).toEqual([]);
  });

  it('goes on once it was granted; another tenant withdraws nothing (G12)', async () => {
    const { proposal, asked } = await ask();
    await policy.deliver('call.proposed', withdrawal(proposal, 'other'));
    expect(policy.take()).toEqual([]);
    await policy.deliver('approval.commands', decideApproval(asked));
    expect(typesOf(policy.take())).toContain('CallGranted');
    await policy.deliver('call.proposed', withdrawal(proposal));
    expect(policy.take()).toEqual([]);
    expect(await statusOf(asked)).toBe('approved');
  });
});
