export * from './bus.port.ts';
export * from './bus-log.port.ts';
export * from './create-bus.ts';
export * from './dead-letter-store.port.ts';
export { PostgresDeadLetters, BUS_SCHEMA } from './memory/postgres-dead-letters.ts';
export { inspectBrokers, openDeadLetterTopics, readTopic } from './kafka/open-tools.ts';
export type { BrokerReport } from './kafka/inspect-brokers.ts';
export type { TopicRecord } from './kafka/topic-reader.ts';
export { DEFAULT_RETRY, type RetryPolicy } from './middleware/retry.ts';
