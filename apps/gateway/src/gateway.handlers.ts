import type { ConsumerSpec } from '#bus';
import { settledTopic, TOPICS } from '#contracts';
import type { RunStreams } from './adapters/run-streams.ts';
import { WATCHED, type WatchedType, type Watchers } from './adapters/watchers.ts';

/** One group per process, from latest: what this process's callers wait for and watch. Durable state is read elsewhere. */
export function gatewayConsumers(
  watchers: Watchers,
  streams: RunStreams,
  pools: readonly string[],
  instance: string,
): ConsumerSpec[] {
  const consumer: ConsumerSpec<WatchedType> = {
    group: `gateway-${instance}`,
    topics: [TOPICS.runEvents, TOPICS.callRejected, TOPICS.callDecided, ...pools.map(settledTopic)],
    from: 'latest',
    accepts: WATCHED,
    reduce: (batch) => {
      watchers.deliver(batch);
      streams.deliver(batch);
      return Promise.resolve();
    },
  };
  return [consumer as unknown as ConsumerSpec];
}
