import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { freePort } from '../../libs/runtime/src/embedded/embedded-postgres.ts';
import { javaProgram, kafkaJars } from './kafka-jars.ts';
import { startNativeProcess } from './native-process.ts';
import type { Say, StartedPart } from './part.ts';
import { accepts, type ProcessRecord, recordOf, run, startDetached, untilReady } from './processes.ts';

export interface Kafka extends StartedPart {
  /** For a client: `host:port`. */
  readonly brokers: string;
}

export interface KafkaOptions {
  /** Created if missing; holds configuration, log and the topics' data. */
  readonly directory: string;
  /** A free one if not given. */
  readonly port?: number;
  readonly say?: Say;
}

const READY_TIMEOUT_MS = 120_000;
const STOP_GRACE_MS = 20_000;
const STARTED = 'Kafka Server started';
const LOG4J = path.join(import.meta.dirname, 'kafka-log4j2.xml');

/** A real Kafka broker (KRaft, one node) on loopback, in a process group of its own. */
export async function startKafka(options: KafkaOptions): Promise<Kafka> {
  const say = options.say ?? (() => undefined);
  const directory = path.resolve(options.directory);
  mkdirSync(directory, { recursive: true });
  const port = options.port ?? (await freePort());
  const broker = { java: await javaProgram(say), jars: await kafkaJars(say), directory, port };
  await format(broker, await freePort());
  const brokers = `127.0.0.1:${port}`;
  const part = await startNativeProcess({ address: brokers, graceMs: STOP_GRACE_MS, launch: () => launch(broker) });
  return Object.assign(part, { brokers });
}

interface Broker {
  readonly java: string;
  readonly jars: string;
  readonly directory: string;
  readonly port: number;
}

const configFile = ({ directory }: Broker): string => path.join(directory, 'server.properties');
const javaArgs = ({ jars }: Broker): string[] => [
  `-Dlog4j2.configurationFile=${LOG4J}`,
  '-Djava.awt.headless=true',
  '-cp',
  `${jars}/*`,
];

async function format(broker: Broker, controllerPort: number): Promise<void> {
  const data = path.join(broker.directory, 'data');
  if (existsSync(path.join(data, 'meta.properties')))
    throw new Error(`${broker.directory} holds the data of another broker: choose an empty folder.`);
  writeFileSync(configFile(broker), properties(broker.port, controllerPort, data));
  const args = [
    'kafka.tools.StorageTool',
    'format',
    '--standalone',
    '--cluster-id',
    'Y291bnRlcnNpZ24tMDAwMQ',
    '--config',
    configFile(broker),
  ];
  const { code, output } = await run(broker.java, [...javaArgs(broker), ...args]);
  if (code !== 0) throw new Error(`Kafka could not format ${data}: ${output.slice(-600)}`);
}

function properties(port: number, controllerPort: number, data: string): string {
  const settings: Record<string, string | number | boolean> = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.bootstrap.servers': `127.0.0.1:${controllerPort}`,
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'log.dirs': data,
    'auto.create.topics.enable': false,
    'group.initial.rebalance.delay.ms': 0,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 8,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
    // a broker that was killed is taken back after this time
    'broker.session.timeout.ms': 4_000,
    'broker.heartbeat.interval.ms': 500,
  };
  return `${Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')}\n`;
}

async function launch(broker: Broker): Promise<ProcessRecord> {
  const logFile = path.join(broker.directory, 'kafka.log');
  const from = existsSync(logFile) ? statSync(logFile).size : 0; // a restart must not read the last start's line
  const args = [
    '-Xms128m',
    '-Xmx512m',
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    ...javaArgs(broker),
    'kafka.Kafka',
    configFile(broker),
  ];
  const child = startDetached({ command: broker.java, args, logFile, cwd: broker.directory });
  const ready = async (): Promise<boolean> =>
    readFileSync(logFile).subarray(from).includes(STARTED) && (await accepts('127.0.0.1', broker.port));
  await untilReady({ name: 'Kafka', child, logFile, timeoutMs: READY_TIMEOUT_MS, ready });
  return recordOf(child.pid!, 'kafka.Kafka');
}
