import type { Incoming } from '#bus';
import { returnedTopic, type GrantReturned } from '#contracts';
import { latestDecisions, voidGrants, type StoredDecision } from '../adapters/decision.repository.ts';
import { decideReturned } from '../domain/decide.ts';
import type { Decision } from '../domain/decision.ts';
import { factsOf, usedApprovals } from './decide-proposals.ts';
import type { PolicyParts } from './policy-parts.ts';
import { judgedUse } from './use-standings.ts';
import { repeatLatest, repeatMessages, writeDrafts, type DraftToWrite } from './write-drafts.ts';

/** GrantReturned: the call is judged again (P3, P6). Only the pool and tenant of the call may give its grant back. */
export function judgeReturned({
  maker,
  database,
  outbox,
  clock,
  log,
}: PolicyParts): (batch: readonly Incoming<'GrantReturned'>[]) => Promise<void> {
  return async (batch) => {
    const stored = await latestDecisions(
      database,
      batch.map(({ message }) => message.callId!),
    );
    const latest = new Map<string, GrantReturned>();
    for (const { message, delivery } of batch) {
      const callId = message.callId!;
      const { data } = message;
      const known = stored.get(callId);
      if (known && owns(known, message.tenant, delivery.topic) && data.decisionNo <= known.decision.decisionNo) {
        if (data.decisionNo >= (latest.get(callId)?.decisionNo ?? 0)) latest.set(callId, data);
      } else
        log.warn(
          { callId, topic: delivery.topic, code: 'GRANT_INVALID' },
          'a grant was returned that its sender never had',
        );
    }
    for (const callId of stored.keys()) if (!latest.has(callId)) stored.delete(callId);
    if (stored.size === 0) return;
    if ([...latest.values()].some(({ reason }) => reason === 'CONTRACT_CHANGED')) await maker.renewQuarantine();
    const contracts = await maker.contractsOf([...stored.values()].map(({ proposal }) => proposal.call));
    const staged = await database.transaction(async (tx) => {
      const approvals = await usedApprovals(tx, stored.values());
      const drafts: DraftToWrite[] = [];
      const repeats: StoredDecision[] = [];
      const voided: Decision[] = [];
      for (const one of stored.values()) {
        const { decision, proposal } = one;
        const now = clock.now();
        const returned = latest.get(decision.callId)!;
        const judged = decideReturned(decision, proposal, returned, factsOf(maker, one, approvals, contracts, now));
        const outcome = await judgedUse(tx, one, judged, now);
        if (outcome.kind === 'repeat') repeats.push(one);
        else if (outcome.kind === 'defer') voided.push(decision);
        else
          drafts.push({
            ...maker.draft(proposal, decision.decisionNo + 1, outcome, contracts, now, decision.returns + 1),
            proposalBytes: null,
          });
      }
      await voidGrants(tx, voided);
      const { won, messages } = await writeDrafts(tx, drafts);
      const lost = drafts.map((draft) => draft.decision.callId).filter((callId) => !won.has(callId));
      return outbox.append(tx, [
        ...messages,
        ...(await repeatMessages(tx, repeats)),
        ...(await repeatLatest(tx, lost)),
      ]);
    });
    outbox.emit(staged);
  };
}

const owns = ({ decision, proposal }: StoredDecision, tenant: string, topic: string): boolean =>
  decision.tenant === tenant && topic === returnedTopic(proposal.call.pool);
