import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** The outside world of the tests: counts what really happened, per operation key. */
export interface EffectSink {
  readonly url: string;
  /** Requests that reached it, whatever they did. */
  readonly requests: number;
  /** Applied effects of this key (a repeat of a key is an attempt, not another effect). */
  applied(key: string): number;
  attempts(key: string): number;
  readonly totalApplied: number;
  close(): Promise<void>;
}

export async function startEffectSink(): Promise<EffectSink> {
  const attempts = new Map<string, number>();
  const applied = new Set<string>();
  let requests = 0;
  const server = http.createServer((request, response) => {
    requests++;
    const reply = (status: number, body: object): void => void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method === 'GET') return reply(200, { items: [{ id: 'item-1', note: 'hello' }] });
      const key = String(request.headers['idempotency-key'] ?? 'without-key');
      attempts.set(key, (attempts.get(key) ?? 0) + 1);
      const first = !applied.has(key);
      applied.add(key);
      const body = JSON.parse(Buffer.concat(chunks).toString()) as { item?: string };
      return reply(first ? 201 : 200, { id: `effect-${[...applied].indexOf(key) + 1}`, item: body.item ?? '' });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get requests() { return requests; },
    get totalApplied() { return applied.size; },
    applied: (key) => (applied.has(key) ? 1 : 0),
    attempts: (key) => attempts.get(key) ?? 0,
    close: () => new Promise((resolve) => { server.close(() => resolve()); server.closeAllConnections(); }),
  };
}
