import type { ConsumerSpec, Incoming } from '#bus';
import { returnedTopic, settledTopic, TOPICS, type MessageType } from '#contracts';
import { decideApprovals } from './reducers/decide-approvals.ts';
import { decideProposals } from './reducers/decide-proposals.ts';
import { decideStandings } from './reducers/decide-standings.ts';
import { judgeReturned } from './reducers/judge-returned.ts';
import type { PolicyParts } from './reducers/policy-parts.ts';
import { projectConsumed } from './reducers/project-consumed.ts';
import { withdrawCalls } from './reducers/withdraw-calls.ts';

/** Approvals are shown as consumed; nothing waits for it. */
const PROJECTION_PACE_MS = 200;

/** Proposals first: a withdrawal that comes with its proposal meets the decision. */
function takeProposals(
  parts: PolicyParts,
): (batch: readonly Incoming<'CallProposed' | 'WithdrawCall'>[]) => Promise<void> {
  const [decide, withdraw] = [decideProposals(parts), withdrawCalls(parts)];
  return async (batch) => {
    const withdrawals = batch.filter(isWithdrawal);
    if (withdrawals.length === 0) return decide(batch as readonly Incoming<'CallProposed'>[]);
    const proposals = batch.filter((one): one is Incoming<'CallProposed'> => !isWithdrawal(one));
    if (proposals.length > 0) await decide(proposals);
    await withdraw(withdrawals);
  };
}

const isWithdrawal = (one: Incoming<'CallProposed' | 'WithdrawCall'>): one is Incoming<'WithdrawCall'> =>
  one.message.type === 'WithdrawCall';

const consumer = <T extends MessageType>(spec: Omit<ConsumerSpec<T>, 'from'>): ConsumerSpec =>
  ({ ...spec, from: 'earliest' }) as unknown as ConsumerSpec;

/** What policy listens to: one consumer per topic on the path of a call, one for all pools' settlements. */
export const policyConsumers = (parts: PolicyParts, pools: readonly string[]): ConsumerSpec[] => [
  consumer({
    group: 'policy.call-proposed',
    topics: [TOPICS.callProposed],
    accepts: ['CallProposed', 'WithdrawCall'],
    concurrency: 2,
    reduce: takeProposals(parts),
  }),
  consumer({
    group: 'policy.call-returned',
    topics: pools.map(returnedTopic),
    accepts: ['GrantReturned'],
    reduce: judgeReturned(parts),
  }),
  consumer({
    group: 'policy.approval-commands',
    topics: [TOPICS.approvalCommands],
    accepts: ['DecideApproval', 'EditApproval', 'WithdrawApproval'],
    reduce: decideApprovals(parts),
  }),
  consumer({
    group: 'policy.commands',
    topics: [TOPICS.policyCommands],
    accepts: ['GrantStanding', 'RevokeStanding'],
    reduce: decideStandings(parts),
  }),
  consumer({
    group: 'policy.call-settled',
    topics: pools.map(settledTopic),
    offPath: { paceMs: PROJECTION_PACE_MS },
    accepts: ['CallSettled', 'CallReconciled'],
    reduce: projectConsumed(parts),
  }),
];
