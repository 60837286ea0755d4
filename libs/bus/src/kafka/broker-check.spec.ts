import net from 'node:net';
import { InfrastructureError } from '#kernel';
import { freePort } from '#runtime';
import { KafkaBus } from './kafka-bus.ts';
import { NEEDED_APIS } from './broker-check.ts';

type Api = readonly [key: number, min: number, max: number];

/** Answers ApiVersions v0 with the given table, like a broker. */
async function fakeBroker(
  apis: readonly Api[],
  answer: (apis: readonly Api[], correlation: number) => Buffer = versionsAnswer,
): Promise<net.Server & AsyncDisposable> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('data', (request: Buffer) => socket.write(answer(apis, request.readInt32BE(8))));
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(server, {
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

function versionsAnswer(apis: readonly Api[], correlation: number): Buffer {
  const body = Buffer.alloc(14 + apis.length * 6);
  body.writeInt32BE(10 + apis.length * 6, 0);
  body.writeInt32BE(correlation, 4);
  body.writeInt16BE(0, 8);
  body.writeInt32BE(apis.length, 10);
  apis.forEach((api, i) => api.forEach((part, j) => body.writeInt16BE(part, 14 + i * 6 + j * 2)));
  return body;
}

const addressOf = (server: net.Server): string => `127.0.0.1:${(server.address() as net.AddressInfo).port}`;
const start = (...brokers: string[]): Promise<void> => new KafkaBus({ brokers, clientId: 'check' }).start();
const full: readonly Api[] = NEEDED_APIS.map(({ key, min, max }) => [key, min, max] as const);

describe('the broker check at the start (G13)', () => {
  it('a missing broker is named, with the remedy', async () => {
    const port = await freePort();
    await expect(start(`127.0.0.1:${port}`)).rejects.toThrow(
      `No Kafka broker answers at 127.0.0.1:${port} (ECONNREFUSED). Start Kafka, or set COUNTERSIGN_KAFKA_BROKERS`,
    );
  });

  it('is told as an error of ours, so that a process shows its text and no stack trace', async () => {
    await expect(start(`127.0.0.1:${await freePort()}`)).rejects.toThrow(InfrastructureError);
    await using broker = await fakeBroker([]);
    await expect(start(addressOf(broker))).rejects.toMatchObject({ name: 'CountersignError', code: 'INVALID_ARGS' });
  });

  it('each missing broker of several is named, and one that is no address', async () => {
    const port = await freePort();
    await expect(start(`127.0.0.1:${port}`, 'kafka')).rejects.toThrow(
      `127.0.0.1:${port} (ECONNREFUSED), kafka (not an address of the form host:port)`,
    );
  });

  it('a broker that lacks a request or is too old is refused, with every fault', async () => {
    const old = full
      .filter(([key]) => key !== 19)
      .map(([key, min, max]): Api => (key === 0 ? [0, 0, 2] : key === 1 ? [1, 12, 17] : [key, min, max]));
    await using server = await fakeBroker(old);
    await expect(start(addressOf(server))).rejects.toThrow(
      /at 127\.0\.0\.1:\d+ does not speak what is needed: Produce versions 3–7 are needed, it has 0–2; Fetch versions 4–11 are needed, it has 12–17; CreateTopics is missing\. Use Apache Kafka/,
    );
  });

  it('what is not a Kafka broker is said to be none', async () => {
    await using server = await fakeBroker([], () => Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'.padEnd(64)));
    server.on('connection', (socket: net.Socket) => setImmediate(() => socket.end()));
    await expect(start(addressOf(server))).rejects.toThrow('not a Kafka broker');
  });
});
