import { message, returnedTopic, type Message } from '#contracts';
import { callIdOf, newId } from '#kernel';
import { contractDigest } from '#registry';
import type { ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import {
  callProposed,
  contractOf,
  ofType,
  openPolicy,
  readContract,
  type ProposalOver,
} from '../testing/policy-fixture.ts';

const cancel = contractOf({ name: 'cancel', risk: 'medium', sideEffects: 'external_message' });
const book = contractOf({ name: 'book', compensation: { tool: 'tickets.cancel', arguments: {} } });
const pivot = contractOf({ name: 'send', compensation: { pivot: true } });
const guarded = contractOf({ name: 'guarded_cancel', approval: { mode: 'always' } });
const careful = contractOf({ name: 'careful', compensation: { tool: 'tickets.guarded_cancel', arguments: {} } });
const contracts = [cancel, book, pivot, guarded, careful];

describe('policy on undos (G1, G2)', () => {
  let policy: ServiceHarness;
  beforeAll(async () => {
    policy = await openPolicy({ contracts });
  });
  afterAll(() => policy.close());
  beforeEach(() => policy.take());

  const propose = async (contract = cancel, undone = book, own: ProposalOver = {}) => {
    const runId = newId('run');
    const undoes = { callId: callIdOf(runId, 7), contractDigest: contractDigest(undone) };
    const data = { effectClass: 'undo' as const, undoes, driver: 'agent' as const, origins: {}, ...own.data };
    await policy.deliver('call.proposed', callProposed({ contract, runId, ...own, data }));
    return policy.take();
  };

  it('what the contract of the undone call declares is permitted without a person, whatever its arguments came from', async () => {
    const took = await propose();
    expect(ofType(took, 'CallAllowed')[0]!.data.reasons).toEqual(['default/declared-undos']);
    expect(ofType(took, 'CallGranted')[0]!.data).toMatchObject({ effectClass: 'undo', undoes: expect.any(Object) });
  });

  it('a tool that always asks a person asks for an undo too', async () => {
    expect(ofType(await propose(guarded, careful), 'ApprovalRequested')).toHaveLength(1);
  });

  it('a person is asked when the journal says that another run relies on it, whatever policy permits', async () => {
    const took = await propose();
    const { callId, runId, tenant } = ofType(took, 'CallGranted')[0]! as Message;
    const data = { decisionNo: 1, reason: 'REPLAYED_ELSEWHERE' as const };
    const context = { tenant, runId: runId!, callId: callId!, now: Date.now() };
    await policy.deliver(returnedTopic('default'), message('GrantReturned', context, data));
    const again = policy.take();
    expect(ofType(again, 'CallGranted')).toEqual([]);
    expect(ofType(again, 'ApprovalRequested')[0]!.data).toMatchObject({ decisionNo: 2 });
  });

  it.each<[string, Parameters<typeof propose>]>([
    ['of a call whose contract declares another one', [cancel, careful]],
    ['of a call whose contract declares none', [cancel, cancel]],
    ['of a point of no return', [cancel, pivot]],
    ['of a call of another run', [cancel, book, { runId: newId('run') }]],
    ['that names no call', [cancel, book, { data: { undoes: undefined } }]],
    ['that is called an ordinary call', [cancel, book, { data: { effectClass: 'call' } }]],
    ['by a tool that reads', [readContract, book]],
  ])('an undo %s is denied', async (_what, args) => {
    const [settled] = ofType(await propose(...args), 'CallSettled');
    expect(settled!.data).toMatchObject({ status: 'denied', error: { code: 'PERMISSION_DENIED' }, effect: 'none' });
  });
});
