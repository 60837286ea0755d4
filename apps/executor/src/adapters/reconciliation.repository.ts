import { decodeMessage, settledTopic, partitionKey, type Message, type OutgoingMessage } from '#contracts';
import type { Clock } from '#kernel';
import type { Database, Outbox, Tx } from '#persistence';
import { isDecided, reconciledOf, recordOf, type Finding } from '../domain/finding.ts';
import { storedCall } from '../domain/prepared-call.ts';
import * as rows from './reconciliation.query.ts';
import type { OpenUnknowns, ReconciliationRow } from './reconciliation.query.ts';

/**
 * What became known of calls that settled as outcome_unknown.
 *
 * Owns: reconciliation, reconciliation_evidence. Shares: operation and resource_hold, which an unknown outcome has left.
 *
 *   state                  may become                                   by
 *   (none)                 open                                         journal_settle, with the settlement
 *   open, needs_human      succeeded | failed | partially_applied       a probe, a person, a late answer
 *   open, needs_human      needs_human                                  a probe that gives up, the first of two people
 *   partially_applied      succeeded | failed | needs_human             a person who completes or closes it
 *   succeeded, failed: final
 *
 * U1 every outcome_unknown has a row, made in the commit of its settlement; the settlement itself is never rewritten.
 * U2 what is found out is one conditional update from a state that is not final: of several finders one wins, the others
 *    are told what stands. Its CallReconciled is a row of the same commit, numbered by `amendment`.
 * U3 a decision releases the holds and, in the same commit, completes the operation (applied) or closes its generation
 *    (not applied); one that is applied in part is never run again. An undo that was applied closes what it took back.
 *    So does a person who took back by other means what is known to have succeeded; one whose outcome is unknown stays so.
 * U4 a look is owned until its lease ends by the database's clock; a later one has a higher epoch, and only the last
 *    one may decide. A person and a late answer need no look.
 * U5 a call that joined this one's outcome is amended in the same commit, or when it comes afterwards.
 * U6 evidence is only added to.
 */
export interface FinderParts {
  readonly database: Database;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly pool: string;
}

/** What a finder answers to the row it looks at; null = nothing is said. `owner`: the row that was locked before. */
export type Judge = (
  row: ReconciliationRow,
  tx: Tx,
  owner: ReconciliationRow | undefined,
) => Promise<Finding | null> | Finding | null;

export interface AmendOptions {
  /** What stands is published again for whoever asks. */
  readonly tellAgain?: boolean;
  /** Lock this call's row first. */
  readonly after?: string;
  /** A person may complete or close what was applied in part. */
  readonly reopens?: boolean;
  /** Kept whatever comes of it (U6), if the call is one of those. */
  readonly evidence?: rows.Evidence;
}

export type Reconciled =
  | { readonly kind: 'amended' | 'unchanged' }
  /** Decided before, or by another finder. */
  | { readonly kind: 'stands' }
  | { readonly kind: 'absent' };

const OPERATION = { succeeded: 'succeeded', failed: 'closed', partially_applied: null } as const;
const OPEN: readonly string[] = ['open', 'needs_human'];

export class ReconciliationRepository {
  readonly #parts: FinderParts;

  constructor(parts: FinderParts) {
    this.#parts = parts;
  }

  claim(limit: number, holdMs: number): Promise<ReconciliationRow[]> {
    return rows.claimDueLooks(this.#parts.database, this.#parts.pool, limit, holdMs);
  }

  async lookAgain(look: ReconciliationRow, afterMs: number | null): Promise<void> {
    await rows.planNextLook(this.#parts.database, look.callId, look.epoch, afterMs);
  }

  count(): Promise<OpenUnknowns> {
    return rows.countUnknowns(this.#parts.database, this.#parts.pool);
  }

  /**
   * One finder's turn, in one transaction.
   * @param epoch of the look; null where none is needed (U4)
   */
  async amend(callId: string, epoch: number | null, judge: Judge, options: AmendOptions = {}): Promise<Reconciled> {
    const { database, outbox, pool } = this.#parts;
    const out: OutgoingMessage[] = [];
    let answer: Reconciled = { kind: 'absent' };
    const staged = await database.transaction(async (tx) => {
      out.length = 0;
      const owner = options.after === undefined ? undefined : await rows.lockReconciliation(tx, null, options.after);
      const row = await rows.lockReconciliation(tx, pool, callId);
      if (row && options.evidence) await rows.insertEvidence(tx, options.evidence);
      answer = row
        ? await this.#amend(tx, row, epoch, (r) => judge(r, tx, owner), out, options.reopens)
        : { kind: 'absent' };
      const silent = answer.kind === 'stands' || answer.kind === 'unchanged';
      if (silent && options.tellAgain === true && row?.said) out.push(again(row, pool));
      return outbox.append(tx, out);
    });
    outbox.emit(staged);
    return answer;
  }

  async #amend(
    tx: Tx,
    row: ReconciliationRow,
    epoch: number | null,
    judge: (row: ReconciliationRow) => ReturnType<Judge>,
    out: OutgoingMessage[],
    reopens = false,
  ): Promise<Reconciled> {
    const again = reopens && row.state === 'partially_applied';
    if ((!OPEN.includes(row.state) && !again) || (epoch !== null && epoch !== row.epoch)) return { kind: 'stands' };
    const finding = await judge(row);
    if (finding === null || (again && finding.status === 'partially_applied')) return { kind: 'unchanged' };
    await this.#say(tx, row, epoch, finding, out);
    if (finding.status === 'needs_human') return { kind: 'amended' };
    if (row.ownerId === row.callId) {
      await rows.closeOperation(tx, row.callId, OPERATION[finding.status]);
      const { undoes } = storedCall(row.message).claims;
      if (undoes !== undefined && finding.status === 'succeeded') await rows.closeUndone(tx, row.tenant, undoes, null);
      for (const joined of await rows.lockJoined(tx, row.callId, row.pool))
        await this.#say(tx, joined, null, finding, out);
    }
    return { kind: 'amended' };
  }

  async #say(tx: Tx, row: ReconciliationRow, epoch: number | null, finding: Finding, out: OutgoingMessage[]) {
    const { pool, clock } = this.#parts;
    const call = storedCall(row.message);
    const amendment = row.amendment + 1;
    const message = reconciledOf(call, amendment, finding, pool, clock.now());
    const record = isDecided(finding) ? recordOf(call, finding, pool, clock.now()) : null;
    const change = { callId: row.callId, amendment, state: finding.status, said: message.value, record };
    // The row is locked: this can only fail by a fault of ours, and then nothing of it stands.
    if (!(await rows.amendCall(tx, change, epoch))) throw new Error(`the record of ${row.callId} changed while locked`);
    out.push(message);
  }

  /** U3, by hand. False: nothing was to be closed; said again it changes nothing. */
  closeByHand(tenant: string, callId: string): Promise<boolean> {
    return rows.closeUndone(this.#parts.database, tenant, callId, this.#parts.pool);
  }

  /** Messages that change no record. */
  async tell(messages: readonly OutgoingMessage[]): Promise<void> {
    const { database, outbox } = this.#parts;
    const staged = await database.transaction((tx) => outbox.append(tx, messages));
    outbox.emit(staged);
  }

  /** U5: a call that joined another one's outcome. The other one is locked first, as whoever decides it does. */
  async follow(look: ReconciliationRow): Promise<void> {
    const judge: Judge = async (row, tx, owner) => {
      if (owner && !OPEN.includes(owner.state)) return findingIn(owner.said!);
      // Whoever decides the owner in this pool sees this row, and amends it; another pool does not.
      const afterMs = owner && owner.pool !== row.pool ? FOREIGN_LOOK_MS : null;
      await rows.planNextLook(tx, row.callId, row.epoch, afterMs);
      return null;
    };
    await this.amend(look.callId, look.epoch, judge, { after: look.ownerId });
  }
}

/** The key's owner ran in another pool: asked for again at this pace. */
const FOREIGN_LOOK_MS = 30_000;

const again = (row: ReconciliationRow, pool: string): OutgoingMessage => ({
  topic: settledTopic(pool),
  key: row.callId,
  partitionKey: partitionKey(row.callId),
  value: row.said!,
});

function findingIn(said: Buffer): Finding {
  const { reconciledBy, status, effect, evidence, error, result, commandId, principal, proposed } = (
    decodeMessage(said) as Message<'CallReconciled'>
  ).data;
  return { by: reconciledBy, status, effect, evidence, error, result, commandId, principal, proposed };
}
