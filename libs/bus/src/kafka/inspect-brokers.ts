import { silentLog } from '../bus-log.port.ts';
import { checkBrokers } from './broker-check.ts';
import { createClient } from './kafka-client.ts';

export interface BrokerReport {
  readonly clusterId: string;
  /** host:port as the brokers advertise themselves. */
  readonly brokers: readonly string[];
  readonly topics: readonly string[];
}

/** Checks versions, then asks for the cluster and its topics. */
export async function inspect(brokers: readonly string[]): Promise<BrokerReport> {
  await checkBrokers(brokers);
  const admin = createClient({ brokers, clientId: 'countersign-doctor', log: silentLog }).admin();
  await admin.connect();
  try {
    const cluster = await admin.describeCluster();
    const topics = await admin.listTopics();
    return {
      clusterId: cluster.clusterId,
      brokers: cluster.brokers.map(({ host, port }) => `${host}:${port}`),
      topics: topics.filter((topic) => !topic.startsWith('__')).sort(),
    };
  } finally {
    await admin.disconnect();
  }
}
