import { setTimeout as pause } from 'node:timers/promises';
import { InfrastructureError, type Clock } from '#kernel';
import { errorFields, type Log } from '#runtime';
import type { JournalRepository } from '../adapters/journal.repository.ts';
import type { Outcome, Settled } from '../adapters/settle-calls.query.ts';
import type { GrantedCall } from '../domain/prepared-call.ts';
import { storedSettlement } from '../domain/replies.ts';
import { settlementOf, type Ending } from '../domain/settlement.ts';
import { createBatcher } from './batcher.ts';
import type { Lease } from './lease-keeper.ts';

const RETRY_MS = 250;
const IN_FLIGHT = 2;
const CROWD = 24;
const MAX_BATCH = 256;
/** Of settlements: the messages of one commit are one row. */
const MAX_BYTES = 1_000_000;

export interface OutcomeWriterOptions {
  readonly journal: JournalRepository;
  readonly pool: string;
  readonly clock: Clock;
  readonly log: Log;
  /** What was to be recorded of a call that is no longer ours. */
  readonly onLate: (call: GrantedCall, ending: Ending) => void;
}

/** Records how calls ended, in merged batches, and tells the world only after the commit (J9, J11). */
export class OutcomeWriter {
  readonly #options: OutcomeWriterOptions;
  readonly #settle: (outcome: Outcome) => Promise<Settled | null>;

  constructor(options: OutcomeWriterOptions) {
    this.#options = options;
    this.#settle = createBatcher((outcomes) => options.journal.settle(outcomes), {
      inFlight: IN_FLIGHT,
      crowd: CROWD,
      maxBatch: MAX_BATCH,
      bytesOf: (outcome) => outcome.settlement.value.length,
      maxBytes: MAX_BYTES,
    });
  }

  /** @param lease null = a read that had no intent */
  async write(call: GrantedCall, lease: Lease | null, ending: Ending, ownsOperation: boolean): Promise<void> {
    const { pool, clock, journal, log } = this.#options;
    const settlement = settlementOf(call, ending, pool, clock.now());
    const outcome: Outcome = { call, epoch: lease?.epoch ?? 0, ending, settlement, ownsOperation };
    const settled = await this.#untilItIsKnown(outcome, lease);
    if (settled === null) {
      log.warn({ callId: call.callId, status: ending.status }, 'outcome not recorded: the call is no longer ours');
      this.#options.onLate(call, ending);
    } else if (settled.recorded !== null) await journal.reply([storedSettlement(call.callId, settled.recorded, pool)]);
  }

  /** While the database is away the outcome is kept and tried again, as long as the call may still be ours. */
  async #untilItIsKnown(outcome: Outcome, lease: Lease | null): Promise<Settled | null> {
    let batched = true;
    for (let attempt = 1; ; attempt++) {
      try {
        return batched ? await this.#settle(outcome) : (await this.#options.journal.settle([outcome]))[0]!;
      } catch (error) {
        const away = error instanceof InfrastructureError;
        // Another outcome of the batch may be at fault: once more alone.
        if (!away && !batched) throw error;
        batched = away;
        this.#options.log.warn({ ...errorFields(error), callId: outcome.call.callId }, 'outcome could not be recorded');
        if (lease ? lease.signal.aborted : attempt > 40) return null;
        if (away) await pause(RETRY_MS);
      }
    }
  }
}
