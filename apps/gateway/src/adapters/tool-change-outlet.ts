import { outgoing, message, TOPICS } from '#contracts';
import { digestText, type Clock } from '#kernel';
import type { Outbox, Staged } from '#persistence';
import type { ToolHistoryEntry, ToolChanges } from '#registry';

/**
 * Tells of changes of tools on `registry.changes`: a row of the outbox in the change's own commit (G4).
 * @param emit after the commit; what is not emitted is sent by the outbox when it starts
 */
export function toolChangeOutlet(outbox: Outbox, clock: Clock, emit: (staged: Staged) => void): ToolChanges {
  return {
    async stage(tx, tenant, changes) {
      if (changes.length === 0) return () => undefined;
      const now = clock.now();
      const messages = changes.map((change) =>
        outgoing(TOPICS.registryChanges, message('ToolChanged', { tenant, now }, toData(change))),
      );
      const staged = await outbox.append(tx, messages);
      return () => emit(staged);
    },
  };
}

const toData = ({ version, reason, ...change }: ToolHistoryEntry) => ({
  ...change,
  version: version === '' ? null : version,
  reasonDigest: reason === null ? null : digestText('reason/v1', reason),
});
