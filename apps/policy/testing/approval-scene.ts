import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { message, type Message, type Principal } from '#contracts';
import { newId } from '#kernel';
import type { ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import type { ApprovalView } from '../src/adapters/approval-views.query.ts';
import {
  alice,
  askContract,
  callProposed,
  decideApproval,
  ofType,
  type DecideOver,
  type ProposalOver,
} from './policy-fixture.ts';

type Asked = Message<'ApprovalRequested'>;

export const person = (name: string, ...roles: string[]): Principal => ({
  id: `user:${name}`,
  kind: 'user',
  roles: roles.length === 0 ? ['approver'] : roles,
});

/** Steps of people on one service of policy. */
export const approvalScene = (policy: ServiceHarness) => ({
  async ask(over: ProposalOver = {}) {
    const proposal = callProposed({ contract: askContract, ...over });
    await policy.deliver('call.proposed', proposal);
    const [asked] = ofType(policy.take(), 'ApprovalRequested');
    return { proposal, asked: asked! };
  },
  async decide(asked: Asked, over: DecideOver = {}) {
    const command = decideApproval(asked, over);
    await policy.deliver('approval.commands', command);
    return { command, published: policy.take() };
  },
  async withdraw(asked: Asked, principal: Principal = alice, tenant = asked.tenant) {
    await policy.deliver('approval.commands', withdrawal(asked, principal, tenant));
    return policy.take();
  },
  view: (asked: Pick<Asked, 'tenant' | 'data'>) =>
    policy.read<ApprovalView>('approval', { tenant: asked.tenant, approvalId: asked.data.approvalId }),
});

export const withdrawal = (asked: Asked, principal: Principal = alice, tenant = asked.tenant) =>
  message(
    'WithdrawApproval',
    { tenant, runId: asked.runId!, callId: asked.callId!, now: Date.now() },
    { commandId: newId('cmd'), approvalId: asked.data.approvalId, principal, reason: null },
  );

/** A workspace with this policy beside the default pack. */
export function policyWorkspace(cedar: string): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'policy-'));
  mkdirSync(path.join(folder, 'policies'));
  writeFileSync(path.join(folder, 'policies', 'team.cedar'), cedar);
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
}

export const claimsOf = (granted: Message<'CallGranted'>): Record<string, unknown> =>
  JSON.parse(Buffer.from(granted.data.grant.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>;
