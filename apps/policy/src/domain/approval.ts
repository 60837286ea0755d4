import type {
  ApprovalRefused,
  ApprovalRequested,
  DecideApproval,
  EditApproval,
  Principal,
  ToolContract,
  WithdrawApproval,
} from '#contracts';
import { derivedId, digestJson } from '#kernel';
import type { Proposal } from './decision.ts';

/**
 * | from              | by                               | to                                                   |
 * |-------------------|----------------------------------|------------------------------------------------------|
 * | –                 | decision `ask`                   | pending                                              |
 * | pending           | DecideApproval approved, below the quorum | pending, one vote more                      |
 * | pending           | DecideApproval                   | approved (quorum met) · rejected (the first one)     |
 * | pending           | EditApproval                     | superseded: another call is asked about instead      |
 * | pending           | expiry                           | expired                                              |
 * | pending           | WithdrawCall, WithdrawApproval   | withdrawn                                            |
 * | pending, approved | another policy, tenant suspended | superseded                                           |
 * | approved          | its grant came back after expiry | expired                                              |
 * | approved          | the pool's settlement            | consumed (a projection: the journal holds the truth) |
 *
 * A1 each person counts once, and only in a role that the request names; one rejection rejects.
 * A2 all of it happens while the approval's row is held: replicas, expiry, withdrawal and votes take turns.
 * A3 what is superseded, expired or withdrawn never comes back: what takes its place has an id of its own.
 * A4 nobody approves by editing: the edited call is asked about anew, and its author counts as one who asked.
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
    ...(call.facts ? { facts: call.facts } : {}),
    requester: call.principal,
    ...(call.edited ? { edited: call.edited } : {}),
    approverRoles: contract.approval.roles,
    forbidSelf: contract.approval.forbidSelf,
    quorum: contract.approval.quorum ?? 1,
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
  readonly details?: ApprovalRefused['details'];
}

type CommandOf<C> = C & { readonly tenant: string; readonly callId: string };

/**
 * Does this person's decision count? null = yes.
 * @param overdue by the database's clock
 */
export function refuseDecision(
  approval: Approval | undefined,
  command: CommandOf<DecideApproval | EditApproval>,
  overdue: boolean,
): ApprovalRefusal | null {
  if (!approval || !isOf(approval, command)) return NO_SUCH_APPROVAL;
  const { request } = approval;
  if (!hasApproverRole(request, command.principal)) {
    return { code: 'PERMISSION_DENIED', message: 'The decision needs an approver role that the caller does not have.' };
  }
  if (isOwnRequest(request, command.principal.id)) {
    return { code: 'PERMISSION_DENIED', message: 'Nobody approves an own request.' };
  }
  if (approval.status === 'superseded')
    return { code: 'APPROVAL_MISMATCH', message: 'The request was replaced by a newer one.' };
  if (command.digest !== request.digest)
    return { code: 'APPROVAL_MISMATCH', message: 'The digest is not the one of the request.' };
  return refuseEnded(approval, overdue);
}

const KEEPERS: readonly string[] = ['operator', 'tenant-admin'];

/** Only the one who asked, and who keeps the tenant's runs, may take a question back. */
export function refuseWithdrawal(
  approval: Approval | undefined,
  command: CommandOf<WithdrawApproval>,
  overdue: boolean,
): ApprovalRefusal | null {
  if (!approval || !isOf(approval, command)) return NO_SUCH_APPROVAL;
  const { id, roles } = command.principal;
  if (id !== approval.request.requester.id && !roles.some((role) => KEEPERS.includes(role)))
    return { code: 'PERMISSION_DENIED', message: 'Only the requester or an operator takes a request back.' };
  if (approval.status === 'superseded')
    return { code: 'APPROVAL_MISMATCH', message: 'The request was replaced by a newer one.' };
  return refuseEnded(approval, overdue);
}

function refuseEnded({ status }: Approval, overdue: boolean): ApprovalRefusal | null {
  if (status === 'expired' || (status === 'pending' && overdue))
    return { code: 'APPROVAL_EXPIRED', message: 'The time to decide is over.' };
  if (status !== 'pending')
    return { code: 'IDEMPOTENCY_CONFLICT', message: `The request was decided already: ${status}.` };
  return null;
}

export const NO_SUCH_APPROVAL: ApprovalRefusal = { code: 'NOT_FOUND', message: 'There is no such approval.' };

const isOf = (approval: Approval, command: CommandOf<object>): boolean =>
  approval.tenant === command.tenant && approval.callId === command.callId;
const hasApproverRole = (request: ApprovalRequested, { roles }: Principal): boolean =>
  request.approverRoles.some((role) => roles.includes(role));
const isOwnRequest = (request: ApprovalRequested, principalId: string): boolean =>
  request.forbidSelf && (principalId === request.requester.id || principalId === request.edited?.by);

/** Ids of those whose approval counts, each once, in the order of voting (A1). */
export const countedVoters = (request: ApprovalRequested, voters: readonly Principal[]): readonly string[] => [
  ...new Set(
    voters.flatMap((voter) => (hasApproverRole(request, voter) && !isOwnRequest(request, voter.id) ? [voter.id] : [])),
  ),
];

/** Do these people carry the approval? Looked at again at each grant. */
export const isCarried = (request: ApprovalRequested, approvers: readonly string[]): boolean =>
  new Set(approvers).size >= request.quorum && !approvers.some((id) => isOwnRequest(request, id));

const BOUND = [
  'tool',
  'contractDigest',
  'argumentsDigest',
  'policyDigest',
  'resources',
  'facts',
  'requester',
  'approverRoles',
  'forbidSelf',
  'quorum',
] as const satisfies readonly (keyof ApprovalRequested)[];

/** Names of the bound fields in which two requests about one call differ; each has an expiry of its own besides. */
export const boundDifference = (a: ApprovalRequested, b: ApprovalRequested): readonly string[] =>
  BOUND.filter((field) => JSON.stringify(a[field]) !== JSON.stringify(b[field]));
