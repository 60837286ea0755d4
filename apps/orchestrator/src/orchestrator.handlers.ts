import type { ConsumerSpec } from '#bus';
import { settledTopic, TOPICS } from '#contracts';
import { ACCEPTED, type OrchestratorMessage } from './orchestrator.inputs.ts';
import type { RunReducer } from './run.reducer.ts';

/**
 * One consumer for everything that moves a run: one reducer batches over all topics.
 * One batch at a time: a later command of a run must meet what an earlier one wrote.
 */
export const orchestratorConsumers = (reducer: RunReducer, pools: readonly string[]): ConsumerSpec[] => {
  const consumer: ConsumerSpec<OrchestratorMessage> = {
    group: 'orchestrator',
    topics: [TOPICS.runCommands, TOPICS.modelResponses, TOPICS.callDecided, ...pools.map(settledTopic)],
    from: 'earliest',
    accepts: ACCEPTED,
    concurrency: 1,
    reduce: (batch) => reducer.reduce(batch),
  };
  return [consumer as unknown as ConsumerSpec];
};
