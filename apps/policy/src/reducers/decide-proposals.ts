import type { Incoming } from '#bus';
import { encodeMessage } from '#contracts';
import { approvalsById } from '../adapters/approval.repository.ts';
import { latestDecisions, type StoredDecision } from '../adapters/decision.repository.ts';
import { proposalOf } from '../adapters/proposal-of.ts';
import { isCarried } from '../domain/approval.ts';
import { decideFirst, decideRepeat, type AgainFacts } from '../domain/decide.ts';
import type { Proposal } from '../domain/decision.ts';
import type { PolicyParts } from './policy-parts.ts';
import { draftsWithUses, giveBackLost, standingsFor } from './use-standings.ts';
import { repeatLatest, repeatMessages, writeDrafts, writeFirst, type DraftToWrite } from './write-drafts.ts';

/** CallProposed: the first decision of each call; what is known already is sent again or, where its grant ran out, judged again. */
export function decideProposals(parts: PolicyParts): (batch: readonly Incoming<'CallProposed'>[]) => Promise<void> {
  const { maker, database, outbox, clock } = parts;
  return async (batch) => {
    const first = new Map<string, { proposal: Proposal; proposalBytes: Buffer }>();
    for (const { message, delivery } of batch) {
      const proposal = proposalOf(message);
      if (!first.has(proposal.callId))
        first.set(proposal.callId, { proposal, proposalBytes: delivery.value ?? encodeMessage(message) });
    }
    const proposals = [...first.values()];
    const contracts = await maker.contractsOf(proposals.map(({ proposal }) => proposal.call));
    const now = clock.now();
    const drafts = proposals.map(({ proposal, proposalBytes }): DraftToWrite => {
      const outcome = decideFirst(maker.judge(proposal, contracts), proposal, now);
      return { ...maker.draft(proposal, 1, outcome, contracts, now), proposalBytes };
    });
    const standings = await standingsFor(database, drafts);
    const written = standings.length === 0 ? await writeFirst(parts, drafts) : null;
    if (written) return outbox.emit(written);
    const { won, staged } = await database.transaction(async (tx) => {
      const withUses = await draftsWithUses(tx, maker, contracts, drafts, standings);
      const written = await writeDrafts(tx, withUses);
      await giveBackLost(tx, withUses, written.won);
      return { won: written.won, staged: await outbox.append(tx, written.messages) };
    });
    outbox.emit(staged);
    const known = proposals.map(({ proposal }) => proposal.callId).filter((callId) => !won.has(callId));
    if (known.length > 0) await repeatKnown(parts, known);
  };
}

async function repeatKnown({ maker, database, outbox, clock }: PolicyParts, callIds: readonly string[]): Promise<void> {
  const stored = await latestDecisions(database, callIds);
  const contracts = await maker.contractsOf([...stored.values()].map(({ proposal }) => proposal.call));
  const staged = await database.transaction(async (tx) => {
    const approvals = await usedApprovals(tx, stored.values());
    const drafts: DraftToWrite[] = [];
    const repeats: StoredDecision[] = [];
    for (const one of stored.values()) {
      const { decision, proposal, over } = one;
      const now = clock.now();
      const outcome = decideRepeat(decision, proposal, over, factsOf(maker, one, approvals, contracts, now));
      if (outcome.kind !== 'grant' || maker.isOfEarlierJournal(decision)) repeats.push(one);
      else
        drafts.push({
          ...maker.draft(proposal, decision.decisionNo + 1, outcome, contracts, now, decision.returns),
          proposalBytes: null,
        });
    }
    const { won, messages } = await writeDrafts(tx, drafts);
    const lost = drafts.map((draft) => draft.decision.callId).filter((callId) => !won.has(callId));
    return outbox.append(tx, [...messages, ...(await repeatMessages(tx, repeats)), ...(await repeatLatest(tx, lost))]);
  });
  outbox.emit(staged);
}

/** The approvals that stored grants used. */
export function usedApprovals(
  tx: Parameters<typeof approvalsById>[0],
  stored: Iterable<StoredDecision>,
): ReturnType<typeof approvalsById> {
  const ids = [...stored].flatMap(({ decision: { state } }) =>
    state.kind === 'granted' && state.approval ? [state.approval.approvalId] : [],
  );
  return approvalsById(tx, ids);
}

/** What a later judgement looks at. */
export function factsOf(
  maker: PolicyParts['maker'],
  { decision, proposal }: StoredDecision,
  approvals: Awaited<ReturnType<typeof approvalsById>>,
  contracts: Awaited<ReturnType<PolicyParts['maker']['contractsOf']>>,
  now: number,
): AgainFacts {
  const used = decision.state.kind === 'granted' ? decision.state.approval : null;
  const held = used ? approvals.get(used.approvalId) : undefined;
  return {
    verdict: maker.judge(proposal, contracts),
    policyDigest: maker.policyDigest,
    approval:
      used && held
        ? {
            status: held.approval.status,
            overdue: held.overdue,
            expiresAt: Date.parse(held.approval.request.expiresAt),
            carried: isCarried(held.approval.request, used.approvers),
          }
        : null,
    now,
  };
}
