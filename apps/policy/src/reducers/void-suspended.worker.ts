import { RepeatedLook, type Worker } from '#runtime';
import { pendingOf } from '../adapters/approval.repository.ts';
import type { PolicyParts } from './policy-parts.ts';
import { rejudge } from './rejudge-pending.worker.ts';

const LIMIT = 100;

/**
 * What waits for a person when its tenant is suspended is void (`superseded`) and its call ends as denied: what was asked
 * before counts no more when the suspension is lifted. Costs nothing while nobody is suspended.
 */
export const voidingOfSuspended = (parts: PolicyParts, everyMs: number): Worker =>
  new RepeatedLook({
    everyMs,
    atOnce: false,
    log: parts.log,
    failed: 'approvals of suspended tenants could not be voided; it is tried again',
    look: async () => {
      const { maker, database } = parts;
      while (maker.suspended.size > 0) {
        const seen = await pendingOf(database, [...maker.suspended], LIMIT);
        if ((await rejudge(parts, seen)) < LIMIT) return;
      }
    },
  });
