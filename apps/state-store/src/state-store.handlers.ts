import { setTimeout as delay } from 'node:timers/promises';
import type { ConsumerSpec } from '#bus';
import { settledTopic, TOPICS } from '#contracts';
import type { Database } from '#persistence';
import { foldViews } from './adapters/fold-views.query.ts';
import { foldFacts, FOLDED_TYPES } from './domain/fold-facts.ts';

export interface StateStoreOptions {
  readonly pools: readonly string[];
  readonly lingerMs: number;
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
    offPath: true,
    accepts: FOLDED_TYPES,
    maxBatch: 512,
    async reduce(batch) {
      if (options.lingerMs > 0) await delay(options.lingerMs);
      await foldViews(database, foldFacts(batch.map(({ message, delivery }) => ({ message, topic: delivery.topic }))));
    },
  };
  return [folder as unknown as ConsumerSpec];
}
