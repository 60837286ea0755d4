import { message, outgoing, TOPICS, type OutgoingMessage, type SupersededWhy } from '#contracts';
import { isUniqueViolation, type Staged, type Tx } from '#persistence';
import { answersAbout } from '../adapters/approval-command.repository.ts';
import {
  approvalsById,
  endApprovals,
  insertApprovals,
  type ApprovalEnd,
  type NewApproval,
} from '../adapters/approval.repository.ts';
import {
  insertDecisions,
  insertNewDecisions,
  latestDecisions,
  type StoredDecision,
} from '../adapters/decision.repository.ts';
import type { Decision } from '../domain/decision.ts';
import { contextOf, decisionMessages } from '../domain/decision-messages.ts';
import type { Draft } from './decision-maker.ts';
import type { PolicyParts } from './policy-parts.ts';

export interface DraftToWrite extends Draft {
  readonly proposalBytes: Buffer | null;
}

export interface Written {
  readonly won: ReadonlySet<string>;
  readonly messages: readonly OutgoingMessage[];
}

/**
 * First decisions of calls that have none, with their messages and the commit, in one round trip.
 * @returns null when one of them is decided already: nothing is written then
 */
export async function writeFirst(
  { database, outbox }: PolicyParts,
  drafts: readonly DraftToWrite[],
): Promise<Staged | null> {
  const sorted = sortedByCall(drafts);
  try {
    return await database.transaction((tx) =>
      tx.last(async () => {
        const [staged] = await Promise.all([
          outbox.append(tx, sorted.flatMap(messagesOf)),
          insertNewDecisions(tx, sorted),
          insertApprovals(tx, approvalsOf(sorted)),
        ]);
        return staged;
      }),
    );
  } catch (error) {
    if (isUniqueViolation(error)) return null;
    throw error;
  }
}

/** Inserts new decision rows with what belongs to them; only the rows that won send messages (P1). */
export async function writeDrafts(tx: Tx, drafts: readonly DraftToWrite[]): Promise<Written> {
  const sorted = sortedByCall(drafts);
  const won = await insertDecisions(tx, sorted);
  const mine = won.size === sorted.length ? sorted : sorted.filter((draft) => won.has(draft.decision.callId));
  await insertApprovals(tx, approvalsOf(mine));
  await endApprovals(tx, mine.flatMap(voidedBy));
  return { won, messages: mine.flatMap(messagesOf) };
}

const sortedByCall = (drafts: readonly DraftToWrite[]): DraftToWrite[] =>
  [...drafts].sort((a, b) => (a.decision.callId < b.decision.callId ? -1 : 1));

const approvalsOf = (drafts: readonly DraftToWrite[]): NewApproval[] =>
  drafts.flatMap(({ approval, proposal }) => (approval ? [{ approval, pool: proposal.call.pool }] : []));

const messagesOf = (draft: DraftToWrite): OutgoingMessage[] => {
  const { decision, proposal, approval } = draft;
  const own = decisionMessages(decision, proposal, approval?.request);
  const voided = voidMessage(draft);
  return voided ? [voided, ...own] : own;
};

/** The approval that the decision voids, with what takes its place. */
function voidedBy({ voids, approval, decision }: DraftToWrite): ApprovalEnd[] {
  if (!voids) return [];
  const none = { commandId: null, decidedBy: null, at: decision.decidedAt, reason: null };
  const { approvalId, as } = voids;
  return as === 'expired'
    ? [{ ...none, approvalId, status: 'expired' }]
    : [{ ...none, approvalId, status: 'superseded', why: whyOf(decision), replacedBy: approval?.approvalId ?? null }];
}

function voidMessage({ voids, approval, decision, proposal }: DraftToWrite): OutgoingMessage | null {
  if (!voids) return null;
  const { approvalId, as } = voids;
  if (as === 'expired') {
    const context = contextOf(decision, proposal, 'ApprovalExpired');
    return outgoing(TOPICS.callDecided, message('ApprovalExpired', context, { approvalId }));
  }
  const context = contextOf(decision, proposal, 'ApprovalSuperseded');
  const data = { approvalId, why: whyOf(decision), replacedBy: approval?.approvalId ?? null };
  return outgoing(TOPICS.callDecided, message('ApprovalSuperseded', context, data));
}

function whyOf({ state }: Decision): SupersededWhy {
  if (state.kind === 'granted') return 'policy_allows';
  return state.kind === 'refused' ? 'policy_denies' : 'policy_changed';
}

/** What the rows say now, to be sent once more (P2). */
export async function repeatMessages(tx: Tx, stored: Iterable<StoredDecision>): Promise<OutgoingMessage[]> {
  const rows = [...stored];
  const asked = rows.flatMap(({ decision: { state } }) => (state.kind === 'asked' ? [state.approvalId] : []));
  const approvals = await approvalsById(tx, asked);
  const edited = await answersAbout(tx, rows.flatMap(editedApproval));
  const others = rows.filter((row) => editedApproval(row).length === 0);
  const repeats = others.flatMap(({ decision, proposal }) => {
    const request =
      decision.state.kind === 'asked' ? approvals.get(decision.state.approvalId)?.approval.request : undefined;
    return decisionMessages(decision, proposal, request);
  });
  return [...edited, ...repeats];
}

/** More than its settlement was said: the arguments that a person proposed instead. */
const editedApproval = ({ decision: { state } }: StoredDecision): string[] =>
  state.kind === 'refused' && state.replacedBy !== undefined && state.approvalId !== null ? [state.approvalId] : [];

/** For calls whose next row another replica wrote first: what it wrote. */
export async function repeatLatest(tx: Tx, callIds: readonly string[]): Promise<OutgoingMessage[]> {
  return callIds.length === 0 ? [] : repeatMessages(tx, (await latestDecisions(tx, callIds)).values());
}
