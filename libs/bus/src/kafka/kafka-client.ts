import { Kafka, logLevel, type ISocketFactory, type logCreator, type RetryOptions } from 'kafkajs';
import type { BusLog } from '../bus-log.port.ts';
import { mendRequestQueue } from './request-queue.ts';

export interface KafkaConnection {
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly log: BusLog;
}

/** Given in full: kafkajs has other defaults when NODE_ENV is "test". About 20 s in all. */
export const CLIENT_RETRY: RetryOptions = {
  initialRetryTime: 100,
  maxRetryTime: 2_000,
  factor: 0.2,
  multiplier: 2,
  retries: 12,
};

export function createClient({ brokers, clientId, log }: KafkaConnection, socketFactory?: ISocketFactory): Kafka {
  mendRequestQueue();
  return new Kafka({
    brokers: [...brokers],
    clientId,
    connectionTimeout: 3_000,
    requestTimeout: 30_000,
    retry: CLIENT_RETRY,
    logLevel: logLevel.WARN,
    logCreator: logTo(log),
    ...(socketFactory ? { socketFactory } : {}),
  });
}

/** Reconnects and rebalances, that kafkajs calls errors and then handles, are detail; a crash of a consumer is not. */
const logTo =
  (log: BusLog): logCreator =>
  () =>
  ({ namespace, log: { message, groupId, broker } }) =>
    log[namespace === 'Consumer' ? 'warn' : 'debug']({ namespace, message, groupId, broker }, 'kafka.client');
