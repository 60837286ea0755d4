import net from 'node:net';

/**
 * Stands between the services and PostgreSQL. It can cut a connection in mid-commit: the COMMIT, or the one statement that
 * is a commit of its own, was sent and carried out, and its answer never comes back.
 */
export interface CutProxy {
  readonly url: string;
  /** Cuts the next commit of a service's connections; of an `own` statement, named as it was prepared, if one is given. */
  cutNext(schema: string, own?: string): void;
  /** Commits that were cut since the start. */
  readonly cuts: number;
  close(): Promise<void>;
}

interface Order {
  readonly schema: string;
  readonly sent: Buffer;
  /** A statement that is a commit of its own. */
  readonly own: boolean;
}

const COMMIT = Buffer.from('commit\0');
const COMMITTED = Buffer.from('COMMIT\0');
/** The answer to the commit of a transaction that had failed. */
const ROLLED_BACK = Buffer.from('ROLLBACK\0');
/** ReadyForQuery, no transaction open: what a statement by itself changed is committed before this is sent. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
const SELECTED = Buffer.from('SELECT ');
/** Enough for the start-up packet, which names the application. */
const HEAD = 1_024;

export async function startCutProxy(databaseUrl: string): Promise<CutProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<net.Socket>();
  let order: Order | null = null;
  let cuts = 0;
  const server = net.createServer((client) => {
    const upstream = net.connect({ host: target.hostname, port: Number(target.port || 5432) });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket
        .on('error', () => undefined)
        .once('close', () => {
          sockets.delete(socket);
          client.destroy();
          upstream.destroy();
        });
    }
    let head = '';
    let cutting: { readonly order: Order; seen: Buffer } | null = null;
    client.on('data', (data) => {
      if (head.length < HEAD) head += data.toString('latin1');
      if (order !== null && data.includes(order.sent) && head.includes(`countersign-${order.schema}\0`)) {
        cutting = { order, seen: Buffer.alloc(0) };
        order = null;
      }
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      if (!cutting) return void client.write(data);
      cutting.seen = Buffer.concat([cutting.seen, data]); // what came before the commit goes down with it
      const { seen } = cutting;
      const { own } = cutting.order;
      if (!own && seen.includes(ROLLED_BACK) && !seen.includes(COMMITTED)) {
        order ??= cutting.order; // nothing was committed: the next one
        cutting = null;
        return void client.write(seen);
      }
      if (own ? !seen.subarray(Math.max(0, seen.indexOf(SELECTED))).includes(READY) : !seen.includes(COMMITTED)) return;
      cuts++;
      client.destroy();
      upstream.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(databaseUrl);
  url.searchParams.delete('host'); // a socket would pass us by
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as net.AddressInfo).port);
  return {
    url: url.href,
    cutNext: (schema, own) =>
      void (order = { schema, sent: own ? Buffer.from(`${own}\0`) : COMMIT, own: own !== undefined }),
    get cuts() {
      return cuts;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
