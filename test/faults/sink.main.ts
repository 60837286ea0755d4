import http from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The world outside, as a process of its own that no fault of the installation reaches: it counts what comes and what it
 * changes, per item. `drop-…`: the first request has its effect and its connection is cut before the answer; `slow-…`: it
 * takes its time. Asked whether it has an item, it answers, and refuses from then on one that it has not: so "not applied"
 * is final. A key, or setting what is set already, changes nothing a second time; without either each request does.
 */
interface Item {
  kind: string;
  attempts: number;
  applied: number;
}
const SLOW_MS = 400;
const items: Record<string, Item> = {};
const keys = new Set<string>();
const refused = new Set<string>();

const server = http.createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://sink');
  const answer = (status: number, body: unknown): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  if (url.pathname === '/state') return answer(200, items);
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const [, kind = '', named] = url.pathname.split('/');
    if (kind === 'asked') {
      const applied = (items[named!]?.applied ?? 0) > 0;
      if (!applied) refused.add(named!);
      return answer(200, { applied });
    }
    const item = named ?? (JSON.parse(Buffer.concat(chunks).toString()) as { item: string }).item;
    const counted = (items[item] ??= { kind, attempts: 0, applied: 0 });
    const first = counted.attempts++ === 0;
    if (refused.has(item)) return answer(422, { error: 'it was asked for before' });
    if (kind !== 'read') {
      const key = kind === 'natural' ? `natural/${item}` : (request.headers['idempotency-key'] as string | undefined);
      if (key === undefined || !keys.has(key)) counted.applied++;
      if (key !== undefined) keys.add(key);
    }
    if (first && item.startsWith('drop-')) return request.socket.destroy();
    setTimeout(() => answer(200, { id: item }), item.startsWith('slow-') ? SLOW_MS : 0);
  });
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.on('disconnect', () => process.exit(0));
