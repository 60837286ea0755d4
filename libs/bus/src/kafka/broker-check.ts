import net from 'node:net';
import { CountersignError, InfrastructureError } from '#kernel';

/**
 * Asks a broker which versions of its requests it speaks (ApiVersions v0), before kafkajs hides the answer behind minutes of retries.
 * Source: https://kafka.apache.org/protocol, "ApiVersions" (key 18).
 */
interface NeededApi {
  readonly key: number;
  readonly name: string;
  /** Oldest version that has what we need (record batches with headers, for instance). */
  readonly min: number;
  /** Newest version that kafkajs 2.2.4 speaks. */
  readonly max: number;
}

export const NEEDED_APIS: readonly NeededApi[] = [
  { key: 0, name: 'Produce', min: 3, max: 7 },
  { key: 1, name: 'Fetch', min: 4, max: 11 },
  { key: 2, name: 'ListOffsets', min: 1, max: 3 },
  { key: 3, name: 'Metadata', min: 1, max: 6 },
  { key: 8, name: 'OffsetCommit', min: 2, max: 5 },
  { key: 9, name: 'OffsetFetch', min: 1, max: 4 },
  { key: 10, name: 'FindCoordinator', min: 0, max: 2 },
  { key: 11, name: 'JoinGroup', min: 1, max: 5 },
  { key: 12, name: 'Heartbeat', min: 0, max: 3 },
  { key: 13, name: 'LeaveGroup', min: 0, max: 3 },
  { key: 14, name: 'SyncGroup', min: 0, max: 3 },
  { key: 19, name: 'CreateTopics', min: 0, max: 3 },
];

const API_VERSIONS = 18;
const ANSWER_MS = 5_000;

type Versions = ReadonlyMap<number, readonly [min: number, max: number]>;

/** @throws InfrastructureError or CountersignError INVALID_ARGS that names the address, what is wrong and the remedy; one reachable broker is enough */
export async function checkBrokers(brokers: readonly string[]): Promise<void> {
  const asked = await Promise.allSettled(brokers.map((address) => askVersions(address)));
  const reached = asked.findIndex((answer) => answer.status === 'fulfilled');
  if (reached < 0) {
    const faults = brokers.map((address, i) => `${address} (${reasonOf((asked[i] as PromiseRejectedResult).reason)})`);
    throw new InfrastructureError(
      `No Kafka broker answers at ${faults.join(', ')}. Start Kafka, or set COUNTERSIGN_KAFKA_BROKERS to the addresses of running brokers.`,
    );
  }
  const missing = missingApis((asked[reached] as PromiseFulfilledResult<Versions>).value);
  if (missing.length > 0) {
    throw new CountersignError(
      'INVALID_ARGS',
      `The Kafka broker at ${brokers[reached]} does not speak what is needed: ${missing.join('; ')}. Use Apache Kafka 2.1 or newer (tested with 4.1), or a broker that is compatible with it.`,
    );
  }
}

function missingApis(versions: Versions): string[] {
  return NEEDED_APIS.flatMap(({ key, name, min, max }) => {
    const has = versions.get(key);
    if (!has) return [`${name} is missing`];
    return has[1] < min || has[0] > max
      ? [`${name} versions ${min}–${max} are needed, it has ${has[0]}–${has[1]}`]
      : [];
  });
}

const reasonOf = (reason: unknown): string => {
  const { code, message } = reason as { code?: string; message?: string };
  return code ?? message ?? String(reason);
};

function askVersions(address: string): Promise<Versions> {
  const at = address.lastIndexOf(':');
  const port = Number(address.slice(at + 1));
  if (at < 1 || !Number.isInteger(port) || port < 1 || port > 65_535) {
    return Promise.reject(new Error(`not an address of the form host:port`));
  }
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host: address.slice(0, at).replace(/^\[|\]$/g, ''), port });
    let answer = Buffer.alloc(0);
    const fail = (error: Error): void => {
      socket.destroy();
      reject(error);
    };
    socket.setTimeout(ANSWER_MS, () => fail(new Error(`no answer within ${ANSWER_MS} ms`)));
    socket.on('error', fail);
    socket.on('close', () => fail(new Error('it closed the connection: not a Kafka broker, or one that expects TLS')));
    socket.on('connect', () => socket.write(versionsRequest()));
    socket.on('data', (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk]);
      if (answer.length < 4 || answer.length < 4 + answer.readInt32BE(0)) return;
      try {
        resolve(readVersions(answer));
        socket.destroy();
      } catch {
        fail(new Error('its answer is not that of a Kafka broker'));
      }
    });
  });
}

/** size, api key, api version 0, correlation id, client id. */
function versionsRequest(): Buffer {
  const client = Buffer.from('countersign');
  const request = Buffer.alloc(14 + client.length);
  request.writeInt32BE(10 + client.length, 0);
  request.writeInt16BE(API_VERSIONS, 4);
  request.writeInt16BE(0, 6);
  request.writeInt32BE(1, 8);
  request.writeInt16BE(client.length, 12);
  client.copy(request, 14);
  return request;
}

/** size, correlation id, error code, then (key, min, max) each. */
function readVersions(answer: Buffer): Versions {
  const error = answer.readInt16BE(8);
  if (error !== 0) throw new Error(`error ${error}`);
  const count = answer.readInt32BE(10);
  const versions = new Map<number, readonly [number, number]>();
  for (let i = 0, at = 14; i < count; i++, at += 6) {
    versions.set(answer.readInt16BE(at), [answer.readInt16BE(at + 2), answer.readInt16BE(at + 4)]);
  }
  return versions;
}
