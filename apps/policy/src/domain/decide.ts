import type { GrantReturned } from '#contracts';
import type { ErrorCode } from '#kernel';
import type { ApprovalStatus } from './approval.ts';
import { EAGER_RETURNS, MAX_RETURNS, type Decision, type Proposal, type UsedApproval } from './decision.ts';
import type { Verdict } from './judge-call.ts';
import { refusal, type Refusal } from './refusal.ts';

/** What an outcome does to the approval that the call had. */
export interface Voids {
  readonly approvalId: string;
  readonly as: 'superseded' | 'expired';
}

/** What becomes of a call; the adapters make rows and messages of it. */
export type Outcome =
  | {
      readonly kind: 'grant';
      readonly approval: UsedApproval | null;
      /** Epoch milliseconds beyond which no grant may live; absent = its own life alone counts. */
      readonly notAfter?: number;
      /** The standing grant whose use it is. */
      readonly standingId?: string;
      readonly reasons: readonly string[];
      readonly voids?: Voids;
    }
  | { readonly kind: 'ask'; readonly reasons: readonly string[]; readonly voids?: Voids }
  | {
      readonly kind: 'refuse';
      readonly refusal: Refusal;
      readonly reasons: readonly string[];
      readonly voids?: Voids;
    }
  /** Send what the rows say. */
  | { readonly kind: 'repeat' }
  /** The grant is void at once; the next re-drive of the proposal judges again. */
  | { readonly kind: 'defer' };
/** An outcome that becomes a row. */
export type FinalOutcome = Extract<Outcome, { kind: 'grant' | 'ask' | 'refuse' }>;

/** The first decision. No grant is minted beyond the run's deadline; a person may be asked until then, and answer later. */
export function decideFirst(verdict: Verdict, proposal: Proposal, now: number): FinalOutcome {
  if (now >= proposal.call.runDeadline) return overdue(verdict.reasons);
  return fromVerdict(verdict);
}

const overdue = (reasons: readonly string[]): FinalOutcome => ({
  kind: 'refuse',
  refusal: refusal('expired', 'BUDGET_EXHAUSTED', 'The time of the run was over before the call could be granted.'),
  reasons,
});

/** What the verdict alone says, for a call without an approval that still counts. */
export function fromVerdict(verdict: Verdict): FinalOutcome {
  switch (verdict.kind) {
    case 'allow':
      return { kind: 'grant', approval: null, reasons: verdict.reasons };
    case 'ask':
      return { kind: 'ask', reasons: verdict.reasons };
    case 'deny':
      return {
        kind: 'refuse',
        refusal: refusal('denied', 'PERMISSION_DENIED', verdict.message),
        reasons: verdict.reasons,
      };
  }
}

export interface AgainFacts {
  readonly verdict: Verdict;
  readonly policyDigest: string;
  /** The approval that the grant used; null when it used none. */
  readonly approval: ApprovalFacts | null;
  readonly now: number;
}

export interface ApprovalFacts {
  readonly status: ApprovalStatus;
  /** By the database's clock (P7). */
  readonly overdue: boolean;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  /** As many people as it needs approved it, each in a role that counts, none their own request. */
  readonly carried: boolean;
}

/** CallProposed came again, and the call's decision is `decision`; `over` by the database's clock (P2, P3). */
export function decideRepeat(decision: Decision, proposal: Proposal, over: boolean, facts: AgainFacts): Outcome {
  if (decision.state.kind !== 'granted' || !over || facts.approval?.status === 'consumed') return { kind: 'repeat' };
  const outcome = judgeAgain(decision, proposal, facts);
  return outcome.kind === 'grant' && outcome.voids === undefined ? outcome : { kind: 'repeat' };
}

/** The pool gave grant `decisionNo` back unused: the right to settle is policy's again, if that grant is the latest (P3). */
export function decideReturned(
  decision: Decision,
  proposal: Proposal,
  returned: GrantReturned,
  facts: AgainFacts,
): Outcome {
  const consumed = facts.approval?.status === 'consumed';
  if (decision.decisionNo !== returned.decisionNo || decision.state.kind !== 'granted' || consumed)
    return { kind: 'repeat' };
  if (decision.returns >= MAX_RETURNS)
    return { kind: 'refuse', refusal: unusable(returned, decision), reasons: decision.reasons };
  const cannotAccept = returned.reason === 'GRANT_INVALID' || returned.reason === 'CONTRACT_CHANGED';
  if (cannotAccept && decision.returns >= EAGER_RETURNS) return { kind: 'defer' };
  const again = judgeAgain(decision, proposal, facts);
  if (returned.reason !== 'REPLAYED_ELSEWHERE' || again.kind !== 'grant' || again.approval !== null) return again;
  const { reasons, voids } = again;
  return { kind: 'ask', reasons: [...reasons, 'journal:replayed-elsewhere'], ...(voids ? { voids } : {}) };
}

/** P5, P6: an approval counts on while it stands and the policy that asked for it is the same; roles and policy are looked at again. */
function judgeAgain(
  decision: Decision,
  proposal: Proposal,
  { verdict, policyDigest, approval, now }: AgainFacts,
): FinalOutcome {
  const used = decision.state.kind === 'granted' ? decision.state.approval : null;
  if (!used) return now >= proposal.call.runDeadline ? overdue(verdict.reasons) : fromVerdict(verdict);
  const { approvalId } = used;
  if (approval?.status === 'approved' && isOver(approval, now)) {
    const text = 'The approval expired before the call could run.';
    return {
      kind: 'refuse',
      refusal: refusal('expired', 'APPROVAL_EXPIRED', text, approvalId),
      reasons: decision.reasons,
      voids: { approvalId, as: 'expired' },
    };
  }
  const stands = approval?.status === 'approved' && approval.carried;
  if (stands && policyDigest === decision.policyDigest && verdict.kind !== 'deny') {
    return { kind: 'grant', approval: used, notAfter: approval.expiresAt, reasons: decision.reasons };
  }
  return { ...fromVerdict(verdict), voids: { approvalId, as: 'superseded' } };
}

/** Too late also where no whole second is left that a grant could live. */
export const isOver = ({ overdue, expiresAt }: Pick<ApprovalFacts, 'overdue' | 'expiresAt'>, now: number): boolean =>
  overdue || Math.floor(expiresAt / 1000) <= Math.floor(now / 1000);

const UNUSABLE: Record<GrantReturned['reason'], { readonly code: ErrorCode; readonly message: string }> = {
  GRANT_EXPIRED: { code: 'GRANT_EXPIRED', message: 'Each grant ran out before the executor could use it.' },
  GRANT_INVALID: { code: 'GRANT_INVALID', message: 'The executor accepts no grant for the call.' },
  CONTRACT_CHANGED: {
    code: 'CONTRACT_CHANGED',
    message: 'The executor does not run the contract that was decided on.',
  },
  REPLAYED_ELSEWHERE: {
    code: 'APPROVAL_DENIED',
    message: 'Another run relies on what was to be undone, and nobody allowed it.',
  },
  LOCK_WAIT: { code: 'BUSY', message: 'The resource stayed locked by others.' },
};

function unusable({ reason }: GrantReturned, decision: Decision): Refusal {
  const { code, message } = UNUSABLE[reason];
  const approvalId = decision.state.kind === 'granted' ? (decision.state.approval?.approvalId ?? null) : null;
  return refusal('expired', code, message, approvalId);
}
