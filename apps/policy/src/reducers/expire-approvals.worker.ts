import { message, outgoing, TOPICS, type OutgoingMessage } from '#contracts';
import { RepeatedLook, type Worker } from '#runtime';
import { endApprovals, lockDueApprovals } from '../adapters/approval.repository.ts';
import { endAsked, latestDecisions } from '../adapters/decision.repository.ts';
import type { Decision } from '../domain/decision.ts';
import { contextOf, decisionMessages } from '../domain/decision-messages.ts';
import { refusal } from '../domain/refusal.ts';
import type { PolicyParts } from './policy-parts.ts';

const LIMIT = 100;

/** Ends approvals that nobody decided in time. One indexed look per interval; waiting itself costs nothing and survives restarts. */
export const expiryOfApprovals = (parts: PolicyParts, everyMs: number): Worker =>
  new RepeatedLook({
    everyMs,
    atOnce: true,
    log: parts.log,
    failed: 'expiry of approvals failed; it is tried again',
    look: async () => {
      while ((await expireApprovals(parts)) === LIMIT);
    },
  });

/** @returns how many were ended */
export async function expireApprovals({ database, outbox, clock }: PolicyParts): Promise<number> {
  const { count, staged } = await database.transaction(async (tx) => {
    const due = await lockDueApprovals(tx, LIMIT);
    if (due.length === 0) return { count: 0, staged: null };
    const at = clock.now();
    const decisions = await latestDecisions(
      tx,
      due.map((approval) => approval.callId),
    );
    await endApprovals(
      tx,
      due.map(({ approvalId }) => ({
        approvalId,
        status: 'expired' as const,
        commandId: null,
        decidedBy: null,
        at,
        reason: null,
      })),
    );
    const ended: Decision[] = due.flatMap(({ callId, approvalId }) => {
      const stored = decisions.get(callId);
      return stored
        ? [
            {
              ...stored.decision,
              decidedAt: at,
              state: refusal('expired', 'APPROVAL_EXPIRED', 'Nobody decided in time.', approvalId),
            },
          ]
        : [];
    });
    const mine = await endAsked(tx, ended);
    const messages = ended
      .filter((decision) => mine.has(decision.callId))
      .flatMap((decision): OutgoingMessage[] => {
        const { proposal } = decisions.get(decision.callId)!;
        const approvalId = (decision.state as { approvalId: string }).approvalId;
        const expired = message('ApprovalExpired', contextOf(decision, proposal, 'ApprovalExpired'), { approvalId });
        return [outgoing(TOPICS.callDecided, expired), ...decisionMessages(decision, proposal, undefined)];
      });
    return { count: due.length, staged: await outbox.append(tx, messages) };
  });
  if (staged) outbox.emit(staged);
  return count;
}
