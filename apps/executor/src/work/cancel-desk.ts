import type { Incoming } from '#bus';
import { decodeMessage, type Message, type OutgoingMessage } from '#contracts';
import type { Clock } from '#kernel';
import type { Log } from '#runtime';
import type { Cancelled } from '../adapters/cancel-calls.query.ts';
import type { JournalRepository } from '../adapters/journal.repository.ts';
import { cancelledEnding, lateCancellation } from '../domain/cancellation.ts';
import { grantedCall, storedClaims } from '../domain/prepared-call.ts';
import type { CallDesk } from './call-desk.ts';
import type { OutcomeWriter } from './outcome-writer.ts';

export interface CancelDeskOptions {
  readonly journal: JournalRepository;
  readonly desk: CallDesk;
  readonly writer: OutcomeWriter;
  readonly clock: Clock;
  readonly log: Log;
  readonly pool: string;
}

type Command = Message<'CancelGranted'>;

/** CancelGranted: see the table in domain/cancellation.ts. A batch is done when what it ends is committed. */
export class CancelDesk {
  readonly #options: CancelDeskOptions;

  constructor(options: CancelDeskOptions) {
    this.#options = options;
  }

  async reduce(batch: readonly Incoming<'CancelGranted'>[]): Promise<void> {
    const commands = new Map<string, Command>();
    for (const { message } of batch) {
      const known = commands.get(message.callId!);
      if (!known || message.data.begun === 'stop') commands.set(message.callId!, message);
    }
    if (commands.size === 0) return;
    const { journal, pool } = this.#options;
    const found = await journal.cancel(
      pool,
      [...commands.values()].map(({ callId, tenant, data }) => ({
        callId: callId!,
        tenant,
        stop: data.begun === 'stop',
      })),
    );
    const replies = await Promise.all(found.map((one) => this.#follow(one, commands.get(one.callId)!)));
    await journal.reply(replies.filter((reply) => reply !== null));
  }

  async #follow(found: Cancelled, command: Command): Promise<OutgoingMessage | null> {
    const { desk, writer, clock, log, pool } = this.#options;
    const { callId, answer, message, settlement } = found;
    switch (answer) {
      case 'foreign':
        log.warn({ callId }, 'a cancellation for a call of another tenant or pool was dropped');
        return null;
      case 'settled':
        return settlement === null ? null : lateCancellation(command, settlement, pool, clock.now());
      case 'intended':
        if (command.data.begun === 'stop') desk.stop(callId);
        return null;
      case 'cancelled': {
        // A read in work here has no row of its own: it is stopped, and its end replaces the cancelled row.
        if (command.data.begun === 'stop') desk.stop(callId);
        if (message === null) return null;
        desk.abandon(callId);
        const granted = decodeMessage(message) as Message<'CallGranted'>;
        await writer.write(grantedCall(granted, storedClaims(granted), 0), null, cancelledEnding(), false);
        return null;
      }
    }
  }
}
