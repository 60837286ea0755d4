import type { ApprovalRefused, ApprovalRequested, DecideApproval, ToolContract } from '#contracts';
import { derivedId, digestJson } from '#kernel';
import type { Proposal } from './decision.ts';

/**
 * | from     | by                      | to                                                   |
 * |----------|-------------------------|------------------------------------------------------|
 * | –        | decision `ask`          | pending                                              |
 * | pending  | DecideApproval          | approved · rejected                                  |
 * | pending  | expiry                  | expired                                              |
 * | pending  | WithdrawCall            | withdrawn                                            |
 * | pending, approved | another policy | superseded                                           |
 * | approved | the pool's settlement   | consumed (a projection: the journal holds the truth) |
 */
export type ApprovalStatus = 'pending' | 'approved' | 'rejected' | 'expired' | 'withdrawn' | 'superseded' | 'consumed';

export interface Approval {
  readonly approvalId: string;
  readonly tenant: string;
  readonly callId: string;
  readonly runId: string;
  readonly status: ApprovalStatus;
  readonly request: ApprovalRequested;
  /** Epoch milliseconds. */
  readonly requestedAt: number;
}

/** What a person is shown and asked; the digest binds all of it (G3). */
export function approvalRequest(
  proposal: Proposal,
  decisionNo: number,
  contract: ToolContract,
  reasons: readonly string[],
  policyDigest: string,
  now: number,
): ApprovalRequested {
  const { call } = proposal;
  const approvalId = derivedId('appr', proposal.callId, decisionNo);
  const bound = {
    approvalId,
    tool: call.tool,
    contractDigest: call.contractDigest,
    argumentsDigest: call.argumentsDigest,
    policyDigest,
    resources: call.resources,
    requester: call.principal,
    approverRoles: contract.approval.roles,
    forbidSelf: contract.approval.forbidSelf,
    expiresAt: new Date(now + Math.min(contract.approval.ttlMs, call.approvalTtlMs ?? Infinity)).toISOString(),
  };
  const digest = digestJson('approval/v1', {
    ...bound,
    tenant: proposal.tenant,
    callId: proposal.callId,
    operationKey: call.operationKey,
  });
  return {
    ...bound,
    decisionNo,
    digest,
    arguments: call.arguments,
    origins: call.origins,
    risk: contract.risk,
    sideEffects: contract.sideEffects,
    reasons: [...reasons],
  };
}

export interface ApprovalRefusal {
  readonly code: ApprovalRefused['code'];
  readonly message: string;
}

/**
 * Does this person's decision count? null = yes.
 * @param overdue by the database's clock
 */
export function refuseDecision(
  approval: Approval | undefined,
  command: DecideApproval & { readonly tenant: string; readonly callId: string },
  overdue: boolean,
): ApprovalRefusal | null {
  if (!approval || approval.tenant !== command.tenant || approval.callId !== command.callId) {
    return { code: 'NOT_FOUND', message: 'There is no such approval.' };
  }
  const { request } = approval;
  if (!request.approverRoles.some((role) => command.principal.roles.includes(role))) {
    return { code: 'PERMISSION_DENIED', message: 'The decision needs an approver role that the caller does not have.' };
  }
  if (request.forbidSelf && command.principal.id === request.requester.id) {
    return { code: 'PERMISSION_DENIED', message: 'Nobody approves an own request.' };
  }
  if (approval.status === 'superseded')
    return { code: 'APPROVAL_MISMATCH', message: 'The request was replaced by a newer one.' };
  if (command.digest !== request.digest)
    return { code: 'APPROVAL_MISMATCH', message: 'The digest is not the one of the request.' };
  if (approval.status === 'expired' || (approval.status === 'pending' && overdue)) {
    return { code: 'APPROVAL_EXPIRED', message: 'The time to decide is over.' };
  }
  if (approval.status !== 'pending')
    return { code: 'IDEMPOTENCY_CONFLICT', message: `The request was decided already: ${approval.status}.` };
  return null;
}
