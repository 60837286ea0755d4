import { message, type Message, type MessageData } from '#contracts';
import { digestArguments, newId } from '#kernel';
import type { ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import { approvalScene, person } from '../testing/approval-scene.ts';
import {
  alice,
  bob,
  callProposed,
  contractOf,
  decideApproval,
  ofType,
  openPolicy,
  typesOf,
} from '../testing/policy-fixture.ts';

type Asked = Message<'ApprovalRequested'>;
const input = {
  type: 'object',
  properties: { title: { type: 'string' }, urgent: { type: 'boolean', default: false }, sources: { type: 'array' } },
  required: ['title'],
  additionalProperties: false,
};
const ticket = contractOf({ name: 'ticket', input, approval: { mode: 'always' }, evidenceArgument: 'sources' });
const lenient = contractOf({ name: 'lenient', input, approval: { mode: 'policy' } });
const own = contractOf({ name: 'own', input, approval: { mode: 'always', forbidSelf: false } });
const carol = person('carol');

let policy: ServiceHarness;
beforeAll(async () => {
  policy = await openPolicy({ contracts: [ticket, lenient, own] });
});
afterAll(() => policy.close());
beforeEach(() => policy.take());

const scene = () => approvalScene(policy);
const ask = async (contract = ticket) =>
  (await scene().ask({ contract, data: { arguments: { title: 'disk' } } })).asked;
const editOf = (asked: Asked, over: Partial<MessageData<'EditApproval'>> = {}, tenant = asked.tenant) =>
  message(
    'EditApproval',
    { tenant, runId: asked.runId!, callId: asked.callId!, now: Date.now() },
    {
      commandId: newId('cmd'),
      approvalId: asked.data.approvalId,
      digest: asked.data.digest,
      arguments: { title: 'disk of db-2' },
      principal: bob,
      reason: 'the other disk',
      ...over,
    },
  );
const give = async (...commands: Message[]) => {
  for (const command of commands) await policy.deliver('approval.commands', command as never);
  return policy.take();
};
/** What the orchestrator makes of an edit. */
const proposalOf = (edited: Message<'ApprovalEdited'>, contract = ticket) => {
  const { replacedBy, editor, arguments: args } = edited.data;
  const made = callProposed({ contract, runId: edited.runId!, data: { arguments: args } });
  return {
    ...made,
    callId: replacedBy,
    data: { ...made.data, edited: { callId: edited.callId!, by: editor.id } },
  };
};

describe('an edit of an approval', () => {
  it('supersedes it, denies its call and names the call in its place; nobody has approved anything (E1, A4, G3)', async () => {
    const asked = await ask();
    const published = await give(editOf(asked));
    expect(typesOf(published)).toEqual(['ApprovalEdited', 'ApprovalSuperseded', 'CallSettled']);
    const [edited] = ofType(published, 'ApprovalEdited');
    const args = { title: 'disk of db-2', urgent: false };
    expect(edited!.data).toMatchObject({
      approvalId: asked.data.approvalId,
      editor: bob,
      arguments: args,
      argumentsDigest: digestArguments(asked.data.tool, asked.data.contractDigest, args),
    });
    expect(ofType(published, 'ApprovalSuperseded')[0]!.data).toMatchObject({ why: 'edited', replacedBy: null });
    expect(ofType(published, 'CallSettled')[0]!.data).toMatchObject({
      status: 'denied',
      effect: 'none',
      error: { code: 'APPROVAL_DENIED', replacedBy: edited!.data.replacedBy },
    });
    expect(await scene().view(asked)).toMatchObject({
      status: 'superseded',
      supersededWhy: 'edited',
      decidedBy: 'user:bob',
      replacedByCall: edited!.data.replacedBy,
    });
  });

  it('again, or beside a second one and a decision, changes nothing more: there is one edited call (E1)', async () => {
    const asked = await ask();
    const command = editOf(asked);
    const first = await give(command);
    expect((await give(command)).map((one) => one.message)).toEqual(first.map((one) => one.message));
    const late = await give(editOf(asked, { principal: carol }), decideApproval(asked, { principal: carol }));
    expect(ofType(late, 'ApprovalRefused').map(({ data }) => data.code)).toEqual([
      'APPROVAL_MISMATCH',
      'APPROVAL_MISMATCH',
    ]);
    expect(typesOf(late)).not.toContain('CallGranted');
  });

  it('is told whole once more when the orchestrator sends the proposal again (P2)', async () => {
    const { asked, proposal } = await scene().ask({ contract: ticket, data: { arguments: { title: 'disk' } } });
    const first = await give(editOf(asked));
    await policy.deliver('call.proposed', proposal);
    expect(policy.take().map((one) => one.message)).toEqual(first.map((one) => one.message));
  });

  it('after a decision comes too late, and a decision stands', async () => {
    const asked = await ask();
    await give(decideApproval(asked));
    const late = await give(editOf(asked, { principal: carol }));
    expect(ofType(late, 'ApprovalRefused')[0]!.data.code).toBe('IDEMPOTENCY_CONFLICT');
  });

  it.each<[string, Partial<MessageData<'EditApproval'>>, string, string]>([
    ['arguments that do not fit', { arguments: { title: 7 } }, 'INVALID_ARGS', '/arguments/title'],
    ['an unknown argument', { arguments: { title: 'a', colour: 'red' } }, 'INVALID_ARGS', '/arguments/colour'],
    ['the same arguments', { arguments: { title: 'disk' } }, 'INVALID_ARGS', '/arguments'],
    [
      'evidence that was not cited',
      { arguments: { title: 'a', sources: ['src-9'] } },
      'INVALID_ARGS',
      '/arguments/sources',
    ],
    ['a stale digest', { digest: `sha256:${'0'.repeat(64)}` }, 'APPROVAL_MISMATCH', ''],
    ['the requester', { principal: { ...alice, roles: ['approver'] } }, 'PERMISSION_DENIED', ''],
    ['somebody without the role', { principal: { ...carol, roles: ['agent'] } }, 'PERMISSION_DENIED', ''],
  ])(
    'with or by %s is refused, with the place, and the approval stays as it is (E3)',
    async (_name, over, code, path) => {
      // The default that is filled in makes the proposal whole.
      const { asked } = await scene().ask({ contract: ticket, data: { arguments: { title: 'disk', urgent: false } } });
      const refused = await give(editOf(asked, over));
      expect(typesOf(refused)).toEqual(['ApprovalRefused']);
      const { code: said, details } = ofType(refused, 'ApprovalRefused')[0]!.data;
      expect([said, details?.[0]?.path ?? '']).toEqual([code, path]);
      expect(await scene().view(asked)).toMatchObject({ status: 'pending', replacedByCall: null });
    },
  );

  it('from another tenant finds nothing (G12)', async () => {
    const asked = await ask();
    const refused = await give(editOf(asked, {}, 'other'));
    expect(ofType(refused, 'ApprovalRefused')[0]!.data.code).toBe('NOT_FOUND');
  });
});

describe('the edited call', () => {
  const editedAsk = async (contract = ticket) => {
    const [edited] = ofType(await give(editOf(await ask(contract))), 'ApprovalEdited');
    await policy.deliver('call.proposed', proposalOf(edited!, contract));
    const published = policy.take();
    return { published, asked: ofType(published, 'ApprovalRequested')[0]! };
  };

  it('is asked about anew; its author does not approve it, another person does (A4)', async () => {
    const { asked } = await editedAsk();
    expect(asked.data).toMatchObject({
      requester: alice,
      edited: { by: 'user:bob' },
      arguments: { title: 'disk of db-2' },
    });
    const byAuthor = await give(decideApproval(asked, { principal: bob }));
    expect(ofType(byAuthor, 'ApprovalRefused')[0]!.data.code).toBe('PERMISSION_DENIED');
    expect(typesOf(await give(decideApproval(asked, { principal: carol })))).toContain('CallGranted');
  });

  it('is approved by its author only where the contract lets people decide on their own requests', async () => {
    const { asked } = await editedAsk(own);
    expect(typesOf(await give(decideApproval(asked, { principal: bob })))).toContain('CallGranted');
  });

  it('is asked about even where policy would let it through unattended: an edit is no approval (A4)', async () => {
    await policy.deliver('call.proposed', callProposed({ contract: lenient, data: { arguments: { title: 'a' } } }));
    expect(typesOf(policy.take())).toContain('CallGranted');
    const edited = { callId: 'call_00000000000000000000000000_0001', by: 'user:bob' };
    await policy.deliver(
      'call.proposed',
      callProposed({ contract: lenient, data: { arguments: { title: 'a' }, edited } }),
    );
    const published = policy.take();
    expect(typesOf(published)).toEqual(['ApprovalRequested']);
    expect(ofType(published, 'ApprovalRequested')[0]!.data.reasons).toEqual(['edited-by-a-person']);
  });
});
