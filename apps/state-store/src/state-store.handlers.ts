import type { ConsumerSpec } from '#bus';
import { settledTopic, TOPICS } from '#contracts';
import type { Database } from '#persistence';
import { foldViews } from './adapters/fold-views.query.ts';
import { foldFacts, FOLDED_TYPES } from './domain/fold-facts.ts';

export interface StateStoreOptions {
  readonly pools: readonly string[];
  readonly paceMs: number;
}

/** Everything that is shown comes in by one group: facts in, views folded by rank, nothing sent. */
export function stateStoreConsumers(database: Database, options: StateStoreOptions): ConsumerSpec[] {
  const folder: ConsumerSpec<(typeof FOLDED_TYPES)[number]> = {
    group: 'state-store',
    topics: [
      TOPICS.callProposed,
      TOPICS.callRejected,
      TOPICS.callDecided,
      TOPICS.runEvents,
      ...options.pools.map(settledTopic),
    ],
    from: 'earliest',
    offPath: { paceMs: options.paceMs },
    accepts: FOLDED_TYPES,
    maxBatch: 512,
    async reduce(batch) {
      await foldViews(database, foldFacts(batch.map(({ message, delivery }) => ({ message, topic: delivery.topic }))));
    },
  };
  return [folder as unknown as ConsumerSpec];
}
