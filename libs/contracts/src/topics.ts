import { runPart } from '#kernel';

export const TOPICS = {
  runCommands: 'run.commands',
  runEvents: 'run.events',
  modelRequests: 'model.requests',
  modelResponses: 'model.responses',
  callProposed: 'call.proposed',
  callRejected: 'call.rejected',
  callDecided: 'call.decided',
  approvalCommands: 'approval.commands',
  policyCommands: 'policy.commands',
  registryChanges: 'registry.changes',
  auditEvents: 'audit.events',
} as const;

export const grantedTopic = (pool: string): string => `call.granted.${pool}`;
export const returnedTopic = (pool: string): string => `call.returned.${pool}`;
export const settledTopic = (pool: string): string => `call.settled.${pool}`;
export const retryTopic = (topic: string): string => `${topic}.retry`;
export const dlqTopic = (topic: string): string => `${topic}.dlq`;

/** Every topic of an installation with these pools, without the retry and dlq companions. */
export const allTopics = (pools: readonly string[]): string[] => [
  ...Object.values(TOPICS),
  ...pools.flatMap((pool) => [grantedTopic(pool), returnedTopic(pool), settledTopic(pool)]),
];

/** Producers choose the partition of internal topics by the run's part of the id, so one run stays together; a tenant by its name. */
export const partitionKey = (key: string): string => (key.includes('_') ? runPart(key) : key);
