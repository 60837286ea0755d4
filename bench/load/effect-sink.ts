import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** The effect server of the bench, in a process of its own: counts effects per key. Prints its port once it listens. */
const counts = new Map<string, number>();

const server = http.createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const reply = (value: object): void =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (request.url === '/counts') {
      const total = [...counts.values()].reduce((a, b) => a + b, 0);
      return reply({ keys: counts.size, total });
    }
    const { key, amount } = JSON.parse(Buffer.concat(chunks).toString()) as { key: string; amount: number };
    const n = (counts.get(key) ?? 0) + 1;
    counts.set(key, n);
    return reply({ ok: true, n, amount });
  });
});
server.keepAliveTimeout = 120_000;
server.listen(Number(process.env.BENCH_SINK_PORT ?? 0), '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
process.on('disconnect', () => process.exit(0));
