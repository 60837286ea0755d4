import { message, returnedTopic } from '#contracts';
import { until, type ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import { askContract, callProposed, decideApproval, ofType, openPolicy } from '../testing/policy-fixture.ts';

let policy: ServiceHarness;
let list: readonly object[] = [];
beforeAll(async () => {
  policy = await openPolicy({ quarantined: () => list });
  await policy.startWorkers();
});
afterAll(() => policy.close());
beforeEach(() => {
  list = [];
  policy.take();
});

const denied = async (propose: () => Promise<unknown>) =>
  until(async () => {
    await propose();
    return ofType(policy.take(), 'CallSettled')[0];
  });

describe('a quarantined tool at policy', () => {
  it('is granted no more, whatever its contract and the policies say', async () => {
    await policy.deliver('call.proposed', callProposed());
    expect(ofType(policy.take(), 'CallGranted')).toHaveLength(1);
    list = [{ tenant: 'dev', tool: 'tickets.create', version: '' }];
    const answer = await denied(() => policy.deliver('call.proposed', callProposed()));
    expect(answer.data).toMatchObject({ status: 'denied', error: { code: 'PERMISSION_DENIED' } });
    await policy.deliver('call.proposed', callProposed({ tenant: 'other' }));
    expect(ofType(policy.take(), 'CallGranted')).toHaveLength(1);
  });

  it('an approval of before does not let it through (G3)', async () => {
    const proposal = callProposed({ contract: askContract });
    await policy.deliver('call.proposed', proposal);
    const [asked] = ofType(policy.take(), 'ApprovalRequested');
    list = [{ tenant: 'dev', tool: 'tickets.ask', version: '1.0.0' }];
    await denied(() => policy.deliver('call.proposed', callProposed({ contract: askContract })));
    await policy.deliver('approval.commands', decideApproval(asked!));
    const published = policy.take();
    expect(ofType(published, 'CallGranted')).toEqual([]);
    expect(ofType(published, 'ApprovalRefused')[0]!.data.code).toBe('APPROVAL_MISMATCH');
    expect(ofType(published, 'CallSettled')[0]!.data.error!.message).toBe('The tool is quarantined.');
  });
});

it('G9 a pool that hears of a quarantine first is not granted the call once more: it is denied by the list of now', async () => {
  let late: readonly object[] = [];
  const unpolled = await openPolicy({ quarantined: () => late });
  try {
    await unpolled.deliver('call.proposed', callProposed());
    const { callId, runId, tenant } = ofType(unpolled.take(), 'CallGranted')[0]!;
    late = [{ tenant, tool: 'tickets.create', version: '' }];
    const returned = message(
      'GrantReturned',
      { tenant, runId: runId!, callId: callId!, now: Date.now() },
      { decisionNo: 1, reason: 'CONTRACT_CHANGED' },
    );
    await unpolled.deliver(returnedTopic('default'), returned);
    const published = unpolled.take();
    expect(ofType(published, 'CallGranted')).toEqual([]);
    expect(ofType(published, 'CallSettled')[0]!.data.error!.message).toBe('The tool is quarantined.');
  } finally {
    await unpolled.close();
  }
});
