import type { CallProposed, CallSettled, GrantReturned } from '#contracts';
import { refuseDecision, type Approval, type ApprovalStatus } from '../../../apps/policy/src/domain/approval.ts';
import {
  decideFirst,
  decideRepeat,
  decideReturned,
  type AgainFacts,
  type FinalOutcome,
} from '../../../apps/policy/src/domain/decide.ts';
import type { Decision, DecisionState, Proposal, UsedApproval } from '../../../apps/policy/src/domain/decision.ts';
import type { Verdict } from '../../../apps/policy/src/domain/judge-call.ts';
import { refusal, refusalError, type Refusal } from '../../../apps/policy/src/domain/refusal.ts';
import { approvalData, decisionData, failedData, settledData } from '../../../apps/orchestrator/testing/fixtures.ts';
import type { Bus, Grant, Tell } from './ring.types.ts';

const APPROVAL_MS = 40_000;
const POLICY = `sha256:${'3'.repeat(64)}`;

interface Known {
  readonly decision: Decision;
  readonly proposal: Proposal;
}

/**
 * Policy as rows: what is decided comes from its own domain, what is kept here stands for its tables. Each method is one
 * commit; what it tells may get lost, repeated or late.
 */
export class PolicyModel {
  readonly #latest = new Map<string, Known>();
  readonly #approvals = new Map<
    string,
    { readonly callId: string; readonly expiresAt: number; status: ApprovalStatus }
  >();
  readonly #bus: Bus;
  readonly #verdictOf: (callId: string) => Verdict['kind'];
  readonly #person: (approvalId: string) => void;
  readonly #grantMs: () => number;

  /** @param chance what the world decides: the verdict of each look, when a person answers, how long a grant lives */
  constructor(
    bus: Bus,
    chance: {
      readonly verdictOf: (callId: string) => Verdict['kind'];
      readonly person: (approvalId: string) => void;
      readonly grantMs: () => number;
    },
  ) {
    this.#bus = bus;
    this.#verdictOf = chance.verdictOf;
    this.#person = chance.person;
    this.#grantMs = chance.grantMs;
  }

  proposed(callId: string, call: CallProposed, now: number): void {
    const known = this.#latest.get(callId);
    const proposal = known?.proposal ?? proposalOf(callId, call);
    if (!known) return this.#write(proposal, 1, decideFirst(this.#verdict(callId), proposal, now), now, 0);
    const { decision } = known;
    const over = decision.state.kind === 'granted' && now >= decision.state.expiresAt * 1000;
    const outcome = decideRepeat(decision, proposal, over, this.#facts(known, now));
    if (outcome.kind === 'grant') this.#write(proposal, decision.decisionNo + 1, outcome, now, decision.returns);
    else this.#say(known);
  }

  returned(callId: string, back: GrantReturned, now: number): void {
    const known = this.#latest.get(callId);
    if (!known || back.decisionNo > known.decision.decisionNo) return;
    const { decision, proposal } = known;
    const outcome = decideReturned(decision, proposal, back, this.#facts(known, now));
    if (outcome.kind === 'repeat') return this.#say(known);
    if (outcome.kind === 'defer') return;
    this.#write(proposal, decision.decisionNo + 1, outcome, now, decision.returns + 1);
  }

  decided(approvalId: string, choice: 'approved' | 'rejected', now: number): void {
    const approval = this.#approvals.get(approvalId)!;
    const known = this.#latest.get(approval.callId)!;
    const { proposal, decision } = known;
    const request = { ...approvalData(approvalId), digest: DIGEST, requester: proposal.call.principal };
    const stored: Approval = {
      approvalId,
      tenant: 'dev',
      callId: approval.callId,
      runId: proposal.runId,
      status: approval.status,
      request: request as Approval['request'],
      requestedAt: 0,
    };
    const command = { ...decisionData(approvalId, choice), principal: BOB, tenant: 'dev', callId: approval.callId };
    if (refuseDecision(stored, { ...command, digest: DIGEST }, now >= approval.expiresAt)) return;
    approval.status = choice;
    const state: DecisionState =
      choice === 'approved'
        ? this.#grant({ approvalId, approvers: [BOB.id] }, now, approval.expiresAt)
        : refusal('denied', 'APPROVAL_DENIED', 'no', approvalId);
    const next = { decision: { ...decision, state }, proposal };
    this.#latest.set(approval.callId, next);
    this.#tell({ type: 'ApprovalDecided', callId: approval.callId, data: decisionData(approvalId, choice) });
    this.#say(next);
  }

  /** A call that waits for a person ends: its run was cancelled, or its time is over. */
  withdraw(callId: string): void {
    const known = this.#latest.get(callId);
    if (known?.decision.state.kind === 'asked') this.#endAsked(known, 'withdrawn', 'cancelled', 'CANCELLED');
  }

  expire(now: number): void {
    for (const [id, approval] of this.#approvals) {
      if (approval.status !== 'pending' || now < approval.expiresAt) continue;
      const known = this.#latest.get(approval.callId)!;
      if (known.decision.state.kind === 'asked' && known.decision.state.approvalId === id)
        this.#endAsked(known, 'expired', 'expired', 'APPROVAL_EXPIRED');
    }
  }

  /** When a person's time is over next. */
  nextExpiry(): number {
    const pending = [...this.#approvals.values()].filter(({ status }) => status === 'pending');
    return Math.min(Infinity, ...pending.map(({ expiresAt }) => expiresAt));
  }

  #endAsked(known: Known, to: ApprovalStatus, status: Refusal['status'], code: Refusal['code']): void {
    const { decision, proposal } = known;
    const { approvalId } = decision.state as { approvalId: string };
    this.#approvals.get(approvalId)!.status = to;
    const next = { decision: { ...decision, state: refusal(status, code, 'over', approvalId) }, proposal };
    this.#latest.set(decision.callId, next);
    this.#say(next);
  }

  #verdict(callId: string): Verdict {
    const kind = this.#verdictOf(callId);
    return (kind === 'deny' ? { kind, message: 'no', reasons: [] } : { kind, reasons: [] }) as Verdict;
  }

  #facts({ decision }: Known, now: number): AgainFacts {
    const used = decision.state.kind === 'granted' ? decision.state.approval : null;
    const kept = used ? this.#approvals.get(used.approvalId)! : null;
    const approval = kept && { ...kept, overdue: now >= kept.expiresAt, carried: true };
    return { verdict: this.#verdict(decision.callId), policyDigest: POLICY, approval, now };
  }

  #write(proposal: Proposal, decisionNo: number, outcome: FinalOutcome, now: number, returns: number): void {
    const { callId } = proposal;
    const { voids } = outcome;
    if (voids !== undefined) this.#approvals.get(voids.approvalId)!.status = voids.as;
    const state = this.#stateOf(callId, decisionNo, outcome, now);
    const decision: Decision = {
      callId,
      decisionNo,
      tenant: 'dev',
      runId: proposal.runId,
      state,
      policyDigest: POLICY,
      reasons: [],
      decidedAt: now,
      returns,
    };
    const known = { decision, proposal };
    this.#latest.set(callId, known);
    this.#say(known);
  }

  #stateOf(callId: string, decisionNo: number, outcome: FinalOutcome, now: number): DecisionState {
    if (outcome.kind === 'grant') return this.#grant(outcome.approval, now, outcome.notAfter);
    if (outcome.kind === 'refuse') return outcome.refusal;
    const approvalId = `appr-${callId}-${decisionNo}`;
    this.#approvals.set(approvalId, { callId, expiresAt: now + APPROVAL_MS, status: 'pending' });
    this.#person(approvalId);
    return { kind: 'asked', approvalId };
  }

  #grant(approval: UsedApproval | null, now: number, notAfter = Infinity): DecisionState {
    const expiresAt = Math.floor(Math.min(now + this.#grantMs(), notAfter) / 1000);
    return { kind: 'granted', token: 'signed', expiresAt, approval };
  }

  /** The same rows say the same (P2). */
  #say({ decision, proposal }: Known): void {
    const { state, callId, decisionNo } = decision;
    if (state.kind === 'granted') {
      const grant: Grant = { callId, decisionNo, expiresAtMs: state.expiresAt * 1000, call: proposal.call };
      this.#bus.send({ to: 'executor', grant });
    } else if (state.kind === 'asked') {
      const { expiresAt } = this.#approvals.get(state.approvalId)!;
      const data = approvalData(state.approvalId, decisionNo, new Date(expiresAt).toISOString());
      this.#tell({ type: 'ApprovalRequested', callId, data: { ...data, tool: proposal.call.tool } });
    } else if (state.kind === 'refused')
      this.#tell({ type: 'CallSettled', callId, data: refusedData(state), from: { kind: 'policy' } });
  }

  #tell(tell: Tell): void {
    this.#bus.send({ to: 'orchestrator', tell });
  }
}

const DIGEST = approvalData('x').digest;
const BOB = { id: 'user:bob', kind: 'user' as const, roles: ['approver'] };
const proposalOf = (callId: string, call: CallProposed): Proposal => ({
  callId,
  tenant: 'dev',
  runId: `run_${callId.slice(5, 31)}`,
  messageId: 'msg',
  correlationId: undefined,
  call,
});

const refusedData = (state: Refusal): CallSettled => ({
  ...settledData(failedData(state.status)),
  settledBy: 'policy',
  attempts: 0,
  error: refusalError(state),
});
