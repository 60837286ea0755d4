import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { recorder, started, until } from '../../testing/bus-harness.ts';
import { sample, unique } from '../../testing/sample-messages.ts';
import { KafkaBus } from './kafka-bus.ts';

const brokers = process.env.TEST_KAFKA_BROKERS?.split(',') ?? [];
/** Joins a group, says so, and stays; nobody waits so long for it as its session lasts. */
const MEMBER = `
const { Kafka, logLevel } = require('kafkajs');
const [brokers, groupId, topic, clientId] = process.argv.slice(1);
const consumer = new Kafka({ brokers: brokers.split(','), clientId, logLevel: logLevel.NOTHING })
  .consumer({ groupId, sessionTimeout: 300000, rebalanceTimeout: 300000 });
consumer.on(consumer.events.GROUP_JOIN, () => console.log('joined'));
consumer.subscribe({ topic }).then(() => consumer.run({ eachMessage: async () => {} }));
`;

async function memberThatIsKilled(groupId: string, topic: string, clientId: string): Promise<void> {
  const child = spawn(process.execPath, ['--no-warnings', '-e', MEMBER, brokers.join(','), groupId, topic, clientId], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
}

describe('a process that takes the place of one that was killed', () => {
  it('takes over its partitions at once, not after its session (G4)', async () => {
    const topic = unique('gone');
    const group = recorder(unique('group'), [topic]);
    const options = { brokers, clientId: 'second', partitions: 3, topics: [topic] };
    const first = new KafkaBus(options);
    await first.start();
    await first.publish([sample(topic, 'kept')]);
    await first.close();
    await memberThatIsKilled(`${group.spec.group}.${topic}`, topic, 'first');

    const bus = await started(new KafkaBus({ ...options, isGone: (clientId) => clientId === 'first' }), group.spec);
    await until('what was published before comes to it', () => group.ids().includes('kept'));
    await bus.drain();
    await bus.close();
  });
});
