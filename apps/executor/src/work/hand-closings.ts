import type { Message } from '#contracts';
import type { Log } from '#runtime';
import type { ReconciliationRepository } from '../adapters/reconciliation.repository.ts';

export interface HandClosingsOptions {
  readonly findings: Pick<ReconciliationRepository, 'closeByHand'>;
  readonly log: Log;
}

/**
 * What people have taken back by other means than an undo (G7).
 * H1 the operation's generation that the call acted under is closed, and no later one: the same key acts again;
 * H2 only of a call of the same tenant and pool, and only an outcome that is known to stand;
 * H3 said again, late, or of a call without a record it changes nothing.
 */
export class HandClosings {
  readonly #options: HandClosingsOptions;

  constructor(options: HandClosingsOptions) {
    this.#options = options;
  }

  async reduce(messages: readonly Message<'CloseUndone'>[]): Promise<void> {
    const { findings, log } = this.#options;
    for (const { tenant, callId, data } of messages) {
      const closed = await findings.closeByHand(tenant, callId!);
      const about = { callId, commandId: data.commandId, by: data.by };
      if (closed) log.info(about, 'taken back by hand: its operation key may act again');
      else log.info(about, 'taken back by hand: no outcome of this call stands in the journal, nothing to close');
    }
  }
}
