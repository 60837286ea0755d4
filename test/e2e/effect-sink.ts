import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { documents } from './documents.ts';

export interface Counted {
  readonly attempts: number;
  readonly applied: number;
}

export interface SinkState {
  /** Requests that reached it, whatever they did. */
  readonly requests: number;
  /** Per operation key: requests, and effects (a repeat of a key is an attempt, not another effect). */
  readonly byKey: Readonly<Record<string, Counted>>;
  /** Per item, with the keys that came with it; a request without a key is an effect each time. */
  readonly byItem: Readonly<Record<string, Counted & { readonly keys: readonly string[] }>>;
  /** Per document: how often it was read. */
  readonly reads: Readonly<Record<string, number>>;
}

/**
 * The outside world behind the probe tools. An item whose name begins with `refuse-` is refused without effect;
 * `hang-once-`: the first request has its effect and gets no answer; `hang-`: no request gets one. `/applied/<item>` tells whether an item has had an effect.
 */
export interface EffectSink {
  readonly url: string;
  state(): SinkState;
  close(): Promise<void>;
}

export async function startEffectSink(): Promise<EffectSink> {
  const byKey: Record<string, { attempts: number; applied: number }> = {};
  const byItem: Record<string, { attempts: number; applied: number; keys: string[] }> = {};
  const reads: Record<string, number> = {};
  let requests = 0;

  const read = (path: string): [number, object] => {
    const item = /^\/applied\/([^/]+)$/.exec(path)?.[1];
    if (item !== undefined) return [200, { applied: (byItem[decodeURIComponent(item)]?.applied ?? 0) > 0 }];
    const id = /^\/documents\/([^/]+)$/.exec(path)?.[1];
    if (id === undefined) return [200, { items: [{ id: 'item-1', note: 'hello' }] }];
    reads[id] = (reads[id] ?? 0) + 1;
    const text = documents[id];
    return text === undefined ? [404, { error: 'no such document' }] : [200, { text }];
  };
  const write = (key: string | undefined, item: string): [number, object] | 'hangs' => {
    const counted = (byItem[item] ??= { attempts: 0, applied: 0, keys: [] });
    counted.attempts++;
    if (item.startsWith('refuse-')) return [422, { error: 'refused' }];
    const entry = (byKey[key ?? `without-key:${item}`] ??= { attempts: 0, applied: 0 });
    entry.attempts++;
    const first = key === undefined || entry.applied === 0;
    if (first) {
      counted.applied++;
      entry.applied++;
    }
    if (key !== undefined && !counted.keys.includes(key)) counted.keys.push(key);
    const hangs = item.startsWith('hang-') && (first || !item.startsWith('hang-once-'));
    const id = `effect-${Object.keys(byKey).indexOf(key ?? `without-key:${item}`) + 1}`;
    return hangs ? 'hangs' : [first ? 201 : 200, { id, item }];
  };

  const server = http.createServer((request, response) => {
    requests++;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const answer =
        request.method === 'GET'
          ? read((request.url ?? '').split('?')[0]!)
          : write(
              request.headers['idempotency-key'] as string | undefined,
              (JSON.parse(Buffer.concat(chunks).toString()) as { item?: string }).item ?? '',
            );
      if (answer === 'hangs') return;
      response.writeHead(answer[0], { 'content-type': 'application/json' }).end(JSON.stringify(answer[1]));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    state: () => structuredClone({ requests, byKey, byItem, reads }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
