import { until, type ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import {
  askContract,
  callProposed,
  callReturned,
  decideApproval,
  ofType,
  openPolicy,
} from '../testing/policy-fixture.ts';

let policy: ServiceHarness;
let suspended: readonly string[] = [];
beforeEach(async () => {
  suspended = [];
  const quarantined = () => suspended.map((tenant) => ({ tenant, tool: '*', version: '' }));
  policy = await openPolicy({ quarantined, env: { COUNTERSIGN_APPROVAL_SWEEP_MS: '20' } });
  await policy.startWorkers();
});
afterEach(() => policy.close());

describe('a suspended tenant at policy', () => {
  it('what waits for a person is superseded without anybody’s doing, its call ends, and a yes that comes later grants nothing (G3)', async () => {
    await policy.deliver('call.proposed', callProposed({ contract: askContract }));
    await policy.deliver('call.proposed', callProposed({ contract: askContract, tenant: 'other' }));
    const [mine, others] = ofType(policy.take(), 'ApprovalRequested');
    suspended = ['dev'];
    await until(() => ofType(policy.published, 'ApprovalSuperseded').length > 0);
    const { published } = policy;
    expect(ofType(published, 'ApprovalSuperseded').map(({ data }) => data)).toEqual([
      { approvalId: mine!.data.approvalId, why: 'policy_denies', replacedBy: null },
    ]);
    expect(ofType(published, 'CallSettled').map(({ callId, data }) => [callId, data.status, data.error])).toEqual([
      [
        mine!.callId,
        'denied',
        expect.objectContaining({ code: 'PERMISSION_DENIED', message: 'The tenant is suspended.' }),
      ],
    ]);
    suspended = [];
    policy.take();
    await policy.deliver('approval.commands', decideApproval(mine!));
    await policy.deliver('approval.commands', decideApproval(others!));
    const after = policy.take();
    expect(ofType(after, 'CallGranted').map(({ callId }) => callId)).toEqual([others!.callId]);
    expect(ofType(after, 'ApprovalRefused').map(({ data }) => data.code)).toEqual(['APPROVAL_MISMATCH']);
  });

  it('nothing is granted, a grant that comes back unused is not renewed, and lifted it goes on', async () => {
    const before = callProposed();
    await policy.deliver('call.proposed', before);
    policy.take();
    suspended = ['dev'];
    await policy.deliver('call.returned.default', callReturned(before, 1, 'CONTRACT_CHANGED'));
    await policy.deliver('call.proposed', callProposed());
    const published = policy.take();
    expect(ofType(published, 'CallGranted')).toEqual([]);
    expect(ofType(published, 'CallSettled').map(({ data }) => data.error!.message)).toEqual([
      'The tenant is suspended.',
      'The tenant is suspended.',
    ]);
    suspended = [];
    await until(async () => {
      await policy.deliver('call.proposed', callProposed());
      return ofType(policy.take(), 'CallGranted').length === 1;
    });
  });
});
