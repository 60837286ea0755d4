import type { ConsumerSpec } from '#bus';
import { returnedTopic, settledTopic, TOPICS, type MessageType } from '#contracts';
import { decideApprovals } from './reducers/decide-approvals.ts';
import { decideProposals } from './reducers/decide-proposals.ts';
import { judgeReturned } from './reducers/judge-returned.ts';
import type { PolicyParts } from './reducers/policy-parts.ts';
import { projectConsumed } from './reducers/project-consumed.ts';

/** Approvals are shown as consumed; nothing waits for it. */
const PROJECTION_PACE_MS = 200;

const consumer = <T extends MessageType>(spec: Omit<ConsumerSpec<T>, 'from'>): ConsumerSpec =>
  ({ ...spec, from: 'earliest' }) as unknown as ConsumerSpec;

/** What policy listens to: one consumer per topic on the path of a call, one for all pools' settlements. */
export const policyConsumers = (parts: PolicyParts, pools: readonly string[]): ConsumerSpec[] => [
  consumer({
    group: 'policy.call-proposed',
    topics: [TOPICS.callProposed],
    accepts: ['CallProposed'],
    concurrency: 2,
    reduce: decideProposals(parts),
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
    accepts: ['DecideApproval'],
    reduce: decideApprovals(parts),
  }),
  consumer({
    group: 'policy.call-settled',
    topics: pools.map(settledTopic),
    offPath: { paceMs: PROJECTION_PACE_MS },
    accepts: ['CallSettled'],
    reduce: projectConsumed(parts),
  }),
];
