import type { Incoming } from '#bus';
import { settledTopic } from '#contracts';
import { consumeApprovals, type ApprovalUse } from '../adapters/approval.repository.ts';
import { giveBackUses } from '../adapters/standing.repository.ts';
import type { PolicyParts } from './policy-parts.ts';

const PREFIX = settledTopic('');

/**
 * CallSettled of the pools: an approval that an attempt (or a replay) spent is `consumed`. A standing use whose call is proved
 * to have had no effect comes back, also when that was found out later (S4). Other calls cost nothing here.
 */
export function projectConsumed({
  database,
}: PolicyParts): (batch: readonly Incoming<'CallSettled' | 'CallReconciled'>[]) => Promise<void> {
  return async (batch) => {
    const uses = new Map<string, ApprovalUse>();
    const undone: { callId: string; tenant: string; pool: string }[] = [];
    for (const { message, delivery } of batch) {
      const pool = delivery.topic.slice(PREFIX.length);
      const { tenant } = message;
      const callId = message.callId!;
      if (message.type === 'CallReconciled') {
        if (message.data.effect === 'none' && message.data.status === 'failed') undone.push({ callId, tenant, pool });
        continue;
      }
      const { approvalId, attempts, replayed, effect, status } = message.data;
      if (approvalId === null && effect === 'none' && status !== 'succeeded') undone.push({ callId, tenant, pool });
      if (approvalId === null || (attempts === 0 && !replayed)) continue;
      uses.set(approvalId, { approvalId, tenant, callId, pool });
    }
    const sorted = [...uses.values()].sort((a, b) => (a.approvalId < b.approvalId ? -1 : 1));
    await consumeApprovals(database, sorted);
    await giveBackUses(database, undone);
  };
}
