import type { Incoming } from '#bus';
import { approvalsById, endApprovals } from '../adapters/approval.repository.ts';
import { endAsked, latestDecisions } from '../adapters/decision.repository.ts';
import type { Decision } from '../domain/decision.ts';
import { decisionMessages } from '../domain/decision-messages.ts';
import { refusal } from '../domain/refusal.ts';
import type { PolicyParts } from './policy-parts.ts';

/**
 * WithdrawCall: a call that waits for a person ends; nobody need decide any more. A call that was granted or has ended is
 * left alone: its right to settle lies elsewhere, or was used. The approvals' rows are held as by a person's decision.
 */
export function withdrawCalls({ database, outbox, clock }: PolicyParts) {
  return async (batch: readonly Incoming<'WithdrawCall'>[]): Promise<void> => {
    const by = new Map(batch.map(({ message }) => [message.callId!, message]));
    const staged = await database.transaction(async (tx) => {
      const decisions = await latestDecisions(tx, [...by.keys()]);
      const waiting = [...decisions.values()].flatMap(({ decision }) =>
        decision.state.kind === 'asked' && decision.tenant === by.get(decision.callId)?.tenant
          ? [{ decision, approvalId: decision.state.approvalId }]
          : [],
      );
      const held = await approvalsById(
        tx,
        waiting.map(({ approvalId }) => approvalId),
        true,
      );
      const open = waiting.filter(({ approvalId }) => held.get(approvalId)?.approval.status === 'pending');
      if (open.length === 0) return null;
      const at = clock.now();
      const ended = open.map(({ decision, approvalId }): Decision => ({
        ...decision,
        decidedAt: at,
        state: refusal('cancelled', 'CANCELLED', 'The run was cancelled before a person decided.', approvalId),
      }));
      const none = { commandId: null, decidedBy: null, at, reason: null };
      await endApprovals(
        tx,
        open.map(({ approvalId }) => ({ ...none, approvalId, status: 'withdrawn' as const })),
      );
      const mine = await endAsked(tx, ended);
      const messages = ended
        .filter((decision) => mine.has(decision.callId))
        .flatMap((decision) => decisionMessages(decision, decisions.get(decision.callId)!.proposal, undefined));
      return outbox.append(tx, messages);
    });
    if (staged) outbox.emit(staged);
  };
}
