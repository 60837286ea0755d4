import { faults } from '#kernel';
import type { Database, Outbox, Tx } from '#persistence';
import type { OutgoingMessage } from '#contracts';
import { cancelCalls, type Cancelled, type CancelRequest } from './cancel-calls.query.ts';
import { findReplayed } from './find-replayed.query.ts';
import { giveUpLeases, renewLeases, returnQueuedCall, type LeaseRef } from './hold-leases.query.ts';
import { intendCalls, type IntentAnswer, type IntentRequest } from './intend-calls.query.ts';
import { lookUpCalls, type Found, type LookUp } from './look-up-calls.query.ts';
import { settleCalls, type Outcome, type Settled } from './settle-calls.query.ts';
import { shrinkRecords, wholeRecords, type WholeRecord } from './shrink-records.query.ts';
import { sweepCalls, type LapsedCall } from './sweep-calls.query.ts';

/**
 * The effect journal: the truth about effects.
 *
 * Owns: call, operation, grant_use, resource_hold, call_request, call_result, call_summary. Does not own: decisions, signatures, tools.
 * Called by: the executor's work. The promises lie in the tables' constraints and in the conditional updates of
 * migrations/0002-journal-intend.sql to 0007-journal-retention.sql (R1 … say who may call them); this file only names the phases.
 *
 *   state            may become                          by
 *   (none)           queued | intended                   journal_intend (a living grant)
 *   (none)           succeeded | failed                  journal_settle (a read that needs no intent)
 *   (none), queued, returned  cancelled                  journal_cancel (settled when its grant is known)
 *   cancelled, unsettled      cancelled | succeeded | failed  journal_settle (its grant came; a read had begun already)
 *   queued           intended                            journal_intend (its owner, its epoch)
 *   queued           returned                            returnQueued (the grant expired while it waited)
 *   queued           failed (BUSY)                       journal_settle
 *   returned         queued | intended                   journal_intend (a higher decisionNo)
 *   intended         succeeded | failed | outcome_unknown  journal_settle (its owner, its epoch)
 *   queued, intended the same, another owner, epoch + 1  journal_sweep (the lease has ended)
 *   succeeded, failed, outcome_unknown, settled cancelled: final here; what is found out of an unknown one:
 *     reconciliation.repository.ts
 *
 * J1  one row, one state, one settlement per callId; a repeat is answered with the stored bytes.
 * J2  a grant (jti) is used once, an approval's use once; the use commits with the intent. Replays and joins spend theirs.
 * J3  per (tenant, tool, class, key) one generation runs; it belongs to one call.
 * J4  a failure proved without effect closes the generation, the next intent opens the following one; success and
 *     unknown never reopen, unless an unknown one is found out not to have happened (U3).
 * J5  per (tenant, resource) one holder; the fence grows with each holder and each takeover, and never falls.
 * J6  an intent takes grant, holds and operation together or gives all back and waits as `queued`.
 * J7  a key that has succeeded answers its record, one that is unknown answers unknown, other arguments are a conflict:
 *     none of them acts.
 * J8  expiry and leases are judged by the database's now() alone.
 * J9  an outcome is written only by the owner of the lease, under its epoch, and its message is a row of the same commit.
 * J10 holds end with the outcome; an unknown outcome keeps them until it is found out, unless the contract says `continue`.
 * J11 a tool runs outside every transaction, after the commit of its intent and before the one of its outcome.
 * J12 what a dead owner left is taken over only after its lease: repeated with the same key where that is harmless,
 *     asked for by the contract's probe, else recorded as unknown.
 * J13 a cancelled call never gets an intent; a call with an intent is never `cancelled`, only told to stop.
 * J14 what was granted before a restore of the journal may have had its effect: where a repeat could have it twice, the call
 *     is unknown; else its grant goes back and is judged again.
 * J15 an outcome that another run was answered with is not undone before a person was asked: such an undo's grant goes
 *     back. A replay that comes while the undo is under way is not seen by it.
 * J16 what was asked and answered goes once it was kept for its time after the settlement (arguments, result, texts of
 *     errors); the row, its key, digests, status and effect stay: a repeat is answered, without the result, and never acts.
 *     What is open, or was ever unknown, stays whole.
 */
export class JournalRepository {
  readonly #database: Database;
  readonly #outbox: Outbox;
  readonly #owner: string;

  /** @param owner names this process in leases; a restarted process is another owner */
  constructor(database: Database, outbox: Outbox, owner: string) {
    this.#database = database;
    this.#outbox = outbox;
    this.#owner = owner;
  }

  async intend(requests: readonly IntentRequest[]): Promise<IntentAnswer[]> {
    faults.at?.('executor', 'before-intent');
    const answers = await intendCalls(this.#database, this.#owner, requests);
    faults.at?.('executor', 'after-intent');
    return answers;
  }

  /** Records outcomes and publishes them, or the records that stood already. Null = no longer ours. */
  async settle(outcomes: readonly Outcome[]): Promise<readonly (Settled | null)[]> {
    faults.at?.('executor', 'before-outcome');
    const { answers, outgoingId } = await settleCalls(this.#database, this.#owner, outcomes);
    faults.at?.('executor', 'after-outcome');
    if (outgoingId !== null) {
      const recordedNow = outcomes.filter((_, index) => answers[index]?.recorded === null);
      this.#outbox.emit({ ids: [outgoingId], messages: recordedNow.map((outcome) => outcome.settlement) });
    }
    return answers;
  }

  lookUp(asked: readonly LookUp[]): Promise<Found[]> {
    return lookUpCalls(this.#database, asked);
  }

  findReplayed(callIds: readonly string[]): Promise<Set<string>> {
    return findReplayed(this.#database, callIds);
  }

  cancel(pool: string, requests: readonly CancelRequest[]): Promise<Cancelled[]> {
    return cancelCalls(this.#database, pool, requests);
  }

  sweep(pool: string, limit: number): Promise<LapsedCall[]> {
    return sweepCalls(this.#database, pool, this.#owner, limit);
  }

  /** The next records after this callId that hold their payloads; those whose time is over come with their text. */
  whole(pool: string, after: string, limit: number, keepMs: number): Promise<WholeRecord[]> {
    return wholeRecords(this.#database, pool, after, limit, keepMs);
  }

  shrink(pool: string, records: readonly { callId: string; settlement: string }[]): Promise<number> {
    return shrinkRecords(this.#database, pool, records);
  }

  renew(leases: readonly LeaseRef[]): Promise<Map<string, boolean>> {
    return renewLeases(this.#database, this.#owner, leases);
  }

  giveUp(leases: readonly LeaseRef[]): Promise<void> {
    return giveUpLeases(this.#database, this.#owner, leases);
  }

  /** The queued row goes back with its message, in one commit. */
  returnQueued(lease: LeaseRef, reply: OutgoingMessage): Promise<void> {
    return this.#send(async (tx) => ((await returnQueuedCall(tx, this.#owner, lease)) ? [reply] : []));
  }

  /** Messages that change no call. */
  async reply(messages: readonly OutgoingMessage[]): Promise<void> {
    if (messages.length > 0) await this.#send(() => Promise.resolve(messages));
  }

  async #send(work: (tx: Tx) => Promise<readonly OutgoingMessage[]>): Promise<void> {
    const staged = await this.#database.transaction(async (tx) => this.#outbox.append(tx, await work(tx)));
    this.#outbox.emit(staged);
  }
}
