import type { Incoming } from '#bus';
import { settledTopic } from '#contracts';
import { consumeApprovals, type ApprovalUse } from '../adapters/approval.repository.ts';
import type { PolicyParts } from './policy-parts.ts';

const PREFIX = settledTopic('');

/** CallSettled of the pools: an approval that an attempt (or a replay) spent is `consumed`. Calls without one cost nothing here. */
export function projectConsumed({
  database,
}: PolicyParts): (batch: readonly Incoming<'CallSettled'>[]) => Promise<void> {
  return async (batch) => {
    const uses = new Map<string, ApprovalUse>();
    for (const { message, delivery } of batch) {
      const { approvalId, attempts, replayed } = message.data;
      if (approvalId === null || (attempts === 0 && !replayed)) continue;
      uses.set(approvalId, {
        approvalId,
        tenant: message.tenant,
        callId: message.callId!,
        pool: delivery.topic.slice(PREFIX.length),
      });
    }
    const sorted = [...uses.values()].sort((a, b) => (a.approvalId < b.approvalId ? -1 : 1));
    await consumeApprovals(database, sorted);
  };
}
