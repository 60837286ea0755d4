import net from 'node:net';

/**
 * Stands between the services and PostgreSQL. It can cut a connection in mid-commit: the COMMIT was sent and carried out,
 * and its answer never comes back.
 */
export interface CutProxy {
  readonly url: string;
  /** Cuts the next commit of a service's connections (`all` = of any). */
  cutNext(schema: string): void;
  /** Commits that were cut since the start. */
  readonly cuts: number;
  close(): Promise<void>;
}

const COMMIT = Buffer.from('commit\0');
const COMMITTED = Buffer.from('COMMIT\0');
/** Enough for the start-up packet, which names the application. */
const HEAD = 1_024;

export async function startCutProxy(databaseUrl: string): Promise<CutProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<net.Socket>();
  let order: string | null = null;
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
    let cutting = false;
    client.on('data', (data) => {
      if (head.length < HEAD) head += data.toString('latin1');
      if (order !== null && data.includes(COMMIT) && (order === 'all' || head.includes(`countersign-${order}\0`))) {
        cutting = true;
        order = null;
      }
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      if (!cutting) return void client.write(data);
      if (!data.includes(COMMITTED)) return; // what came before the commit goes down with it
      cuts++;
      client.destroy();
      upstream.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as net.AddressInfo).port);
  return {
    url: url.href,
    cutNext: (schema) => void (order = schema),
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
