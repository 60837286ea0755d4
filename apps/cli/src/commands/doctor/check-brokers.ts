import { allTopics, dlqTopic } from '#contracts';
import type { Environment } from '#runtime';
import { wrong, type Finding } from './finding.ts';

const listOf = (text: string | undefined): string[] => (text ?? '').split(',').flatMap((part) => part.trim() || []);

/** Kafka: reachable, new enough, the topics there. */
export async function checkBus(env: Environment): Promise<Finding[]> {
  const check = 'brokers';
  const brokers = listOf(env.COUNTERSIGN_KAFKA_BROKERS);
  if (brokers.length === 0)
    return [{ check, state: 'skipped', found: 'COUNTERSIGN_KAFKA_BROKERS is not set: the bus is in process' }];
  const { inspectBrokers } = await import('#bus');
  try {
    const report = await inspectBrokers(brokers);
    const pools = listOf(env.COUNTERSIGN_POOLS ?? 'default');
    const missing = allTopics(pools).filter((topic) => !report.topics.includes(topic));
    const letters = report.topics.filter((topic) => topic.endsWith(dlqTopic(''))).length;
    return [
      {
        check,
        state: 'ok',
        found: `cluster ${report.clusterId}, ${report.brokers.join(', ')}, speaks what is needed`,
      },
      {
        check: 'topics',
        state: 'ok',
        found:
          missing.length === 0
            ? `all are there, ${letters} for dead letters`
            : `${missing.length} will be created when the services start`,
      },
    ];
  } catch (error) {
    return [wrong(check, error, 'start Kafka 2.1 or newer, or correct COUNTERSIGN_KAFKA_BROKERS')];
  }
}

export async function checkLocks(env: Environment): Promise<Finding[]> {
  const check = 'Redis';
  const url = env.COUNTERSIGN_REDIS_URL;
  if (!url)
    return [{ check, state: 'skipped', found: 'COUNTERSIGN_REDIS_URL is not set: PostgreSQL orders the waits' }];
  const { checkRedis } = await import('#locks');
  try {
    return [{ check, state: 'ok', found: `Redis ${await checkRedis(url)} answers` }];
  } catch (error) {
    return [
      wrong(check, error, 'start Redis, or correct COUNTERSIGN_REDIS_URL; without it writes go on by the journal'),
    ];
  }
}
