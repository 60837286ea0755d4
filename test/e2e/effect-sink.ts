import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SinkState {
  /** Requests that reached it, whatever they did. */
  readonly requests: number;
  /** Per operation key: requests, and effects (a repeat of a key is an attempt, not another effect). */
  readonly byKey: Readonly<Record<string, { readonly attempts: number; readonly applied: number }>>;
}

/** The outside world behind the probe tools. */
export interface EffectSink {
  readonly url: string;
  state(): SinkState;
  close(): Promise<void>;
}

export async function startEffectSink(): Promise<EffectSink> {
  const byKey: Record<string, { attempts: number; applied: number }> = {};
  let requests = 0;
  const server = http.createServer((request, response) => {
    requests++;
    const reply = (status: number, body: object): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method === 'GET') return reply(200, { items: [{ id: 'item-1', note: 'hello' }] });
      const key = String(request.headers['idempotency-key'] ?? 'without-key');
      const entry = (byKey[key] ??= { attempts: 0, applied: 0 });
      entry.attempts++;
      const first = entry.applied === 0;
      entry.applied = 1;
      const body = JSON.parse(Buffer.concat(chunks).toString()) as { item?: string };
      return reply(first ? 201 : 200, { id: `effect-${Object.keys(byKey).indexOf(key) + 1}`, item: body.item ?? '' });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    state: () => structuredClone({ requests, byKey }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
