import { errorFields, type Worker } from '#runtime';
import { approvalsById, pendingUnderOther } from '../adapters/approval.repository.ts';
import { endAsked, latestDecisions } from '../adapters/decision.repository.ts';
import { fromVerdict } from '../domain/decide.ts';
import type { Approval } from '../domain/approval.ts';
import type { Decision } from '../domain/decision.ts';
import type { PolicyParts } from './policy-parts.ts';
import { writeDrafts, type DraftToWrite } from './write-drafts.ts';

const LIMIT = 100;
const AGAIN_MS = 1_000;

/**
 * Policies are read at the start: what waits for a person under other ones is judged again then, once, also when nobody
 * decides it. Denied now: the call ends so. Asked for still: another request takes the place of the old one, whose digest
 * names a policy that is no longer in force. Allowed without a person: it is granted. Only what was asked before the start:
 * two replicas with different policies, as in a rolling update, do not answer each other for ever.
 */
export class RejudgePending implements Worker {
  readonly #parts: PolicyParts;
  readonly #before: number;
  #stopped = false;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;

  constructor(parts: PolicyParts) {
    this.#parts = parts;
    this.#before = parts.clock.now();
  }

  start(): void {
    this.#running ??= this.#judgeAll()
      .catch((error: unknown) => {
        this.#parts.log.warn(errorFields(error), 'waiting approvals could not be judged again; it is tried again');
        if (!this.#stopped) this.#timer = setTimeout(() => this.start(), AGAIN_MS);
      })
      .finally(() => {
        this.#running = null;
      });
  }

  async drain(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#running;
  }

  async #judgeAll(): Promise<void> {
    while (!this.#stopped && (await rejudgePending(this.#parts, this.#before)) > 0);
  }
}

/**
 * @param before epoch milliseconds
 * @returns how many were judged again
 */
export async function rejudgePending(parts: PolicyParts, before: number): Promise<number> {
  return rejudge(parts, await pendingUnderOther(parts.database, parts.maker.policyDigest, before, LIMIT));
}

/**
 * Judges anew what waits for a person; what took its place, and what somebody decides meanwhile, is left alone.
 * @returns how many were seen
 */
export async function rejudge(
  { maker, database, outbox, clock }: PolicyParts,
  seen: readonly Approval[],
): Promise<number> {
  if (seen.length === 0) return 0;
  const callIds = seen.map(({ callId }) => callId);
  const calls = [...(await latestDecisions(database, callIds)).values()].map(({ proposal }) => proposal.call);
  const contracts = await maker.contractsOf(calls);
  const staged = await database.transaction(async (tx) => {
    const ids = seen.map(({ approvalId }) => approvalId);
    const held = [...(await approvalsById(tx, ids, true)).values()];
    const waiting = held.filter(({ approval, overdue }) => approval.status === 'pending' && !overdue);
    const stored = await latestDecisions(tx, callIds);
    const now = clock.now();
    const ended: Decision[] = [];
    const drafts: DraftToWrite[] = [];
    for (const { approval } of waiting) {
      const { callId, approvalId } = approval;
      const { decision, proposal } = stored.get(callId)!;
      const verdict = maker.judge(proposal, contracts);
      const outcome = { ...fromVerdict(verdict), voids: { approvalId, as: 'superseded' as const } };
      ended.push({ ...decision, state: { kind: 'superseded', approvalId }, decidedAt: now });
      const draft = maker.draft(proposal, decision.decisionNo + 1, outcome, contracts, now, decision.returns);
      drafts.push({ ...draft, proposalBytes: null });
    }
    await endAsked(tx, ended);
    const { messages } = await writeDrafts(tx, drafts);
    return outbox.append(tx, messages);
  });
  outbox.emit(staged);
  return seen.length;
}
