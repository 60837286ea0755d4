import type { DeadLetterDesk } from '../dead-letter-store.port.ts';
import type { BrokerReport } from './inspect-brokers.ts';
import type { ReadTopicOptions, TopicRecord } from './topic-reader.ts';

/** What operators need of Kafka beside the bus. The client is loaded only when one of them is used. */

/** Every record of a topic, as far as it goes now. @throws InfrastructureError when no broker answers */
export async function* readTopic(options: ReadTopicOptions): AsyncGenerator<TopicRecord> {
  const { TopicReader } = await import('./topic-reader.ts');
  yield* new TopicReader(options.brokers).read(options.topic);
}

/** The dead letters on Kafka. @throws InfrastructureError when no broker answers */
export async function openDeadLetterTopics(brokers: readonly string[]): Promise<DeadLetterDesk> {
  const { DeadLetterTopics } = await import('./dead-letter-topics.ts');
  return DeadLetterTopics.open(brokers);
}

/** What the brokers say of themselves. @throws InfrastructureError, CountersignError as `checkBrokers` */
export async function inspectBrokers(brokers: readonly string[]): Promise<BrokerReport> {
  const { inspect } = await import('./inspect-brokers.ts');
  return inspect(brokers);
}
