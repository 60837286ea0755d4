import type { Database, Tx } from '#persistence';
import { giveBackUses, holdStandings, liveUntil, takeUse, usableStandings } from '../adapters/standing.repository.ts';
import type { StoredDecision } from '../adapters/decision.repository.ts';
import { amountOf } from '../domain/policy-question.ts';
import { covers, standingIdOf, standingReason, type Standing } from '../domain/standing.ts';
import type { Outcome } from '../domain/decide.ts';
import type { DecisionMaker, KnownContracts } from './decision-maker.ts';
import type { DraftToWrite } from './write-drafts.ts';

/** Standing grants that may answer for calls that would be asked about; one look, and only where something is asked. */
export async function standingsFor(database: Database, drafts: readonly DraftToWrite[]): Promise<readonly Standing[]> {
  const asked = drafts.filter(isAsked).map(({ proposal }) => ({
    tenant: proposal.tenant,
    contractDigest: proposal.call.contractDigest,
  }));
  return asked.length === 0 ? [] : usableStandings(database, asked);
}

/** What a person wrote instead of what was asked, a person looks at. */
const isAsked = ({ decision, proposal }: DraftToWrite): boolean =>
  decision.state.kind === 'asked' && proposal.call.edited === undefined;

/**
 * First decisions with the uses that they take (S3). The standing grants are held first, in the order of their ids, and
 * uses are taken in the order of the calls: replicas with the same calls take turns.
 */
export async function draftsWithUses(
  tx: Tx,
  maker: DecisionMaker,
  contracts: KnownContracts,
  drafts: readonly DraftToWrite[],
  standings: readonly Standing[],
): Promise<DraftToWrite[]> {
  if (standings.length === 0) return [...drafts];
  const taken = new Map<string, DraftToWrite>();
  const within = drafts
    .filter(isAsked)
    .toSorted((a, b) => (a.proposal.callId < b.proposal.callId ? -1 : 1))
    .flatMap((draft) => {
      const { tenant, call } = draft.proposal;
      const contract = contracts(call.contractDigest);
      const fitting = contract ? standings.filter((standing) => covers(standing, tenant, call, contract)) : [];
      return contract && fitting.length > 0 ? [{ draft, contract, fitting }] : [];
    });
  await holdStandings(tx, [...new Set(within.flatMap(({ fitting }) => fitting.map(({ standingId }) => standingId)))]);
  for (const { draft, contract, fitting } of within) {
    const { proposal, decision, proposalBytes } = draft;
    const { callId, tenant, call } = proposal;
    for (const { standingId, scope } of fitting) {
      const use = { standingId, tenant, callId, pool: call.pool, amount: amountOf(call, contract) ?? 0 };
      if (!(await takeUse(tx, use))) continue;
      const outcome = {
        kind: 'grant' as const,
        approval: null,
        standingId,
        notAfter: Date.parse(scope.expiresAt),
        reasons: [standingReason(standingId), ...decision.reasons],
      };
      taken.set(callId, { ...maker.draft(proposal, 1, outcome, contracts, decision.decidedAt), proposalBytes });
      break;
    }
  }
  return drafts.map((draft) => taken.get(draft.proposal.callId) ?? draft);
}

/** Another replica decided them first. */
export const giveBackLost = (tx: Tx, drafts: readonly DraftToWrite[], won: ReadonlySet<string>): Promise<void> =>
  giveBackUses(
    tx,
    drafts.flatMap(({ decision }) =>
      won.has(decision.callId) || standingIdOf(decision) === null
        ? []
        : [{ callId: decision.callId, tenant: decision.tenant, pool: null }],
    ),
  );

/** A grant of a standing use came back: it is granted again while the standing grant lives, else its use comes back (S4, S5). */
export async function judgedUse(tx: Tx, { decision }: StoredDecision, outcome: Outcome, now: number): Promise<Outcome> {
  const standingId = standingIdOf(decision);
  if (standingId === null || outcome.kind === 'repeat' || outcome.kind === 'defer') return outcome;
  const until = outcome.kind === 'ask' ? await liveUntil(tx, standingId) : null;
  if (until !== null && Math.floor(until / 1000) > Math.floor(now / 1000))
    return { kind: 'grant', approval: null, standingId, notAfter: until, reasons: decision.reasons };
  await giveBackUses(tx, [{ callId: decision.callId, tenant: decision.tenant, pool: null }]);
  return outcome;
}
