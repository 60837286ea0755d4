import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the booking office did, in order. */
export interface Done {
  readonly what: 'book' | 'cancel';
  readonly seat: string;
  readonly booking: string;
}

/**
 * A source system with effects that can be taken back. Seats that begin with `full` cannot be booked; a cancellation of a
 * seat that is stuck is refused; one of a seat that is held back is answered when the seat is let go.
 */
export interface BookingOffice {
  readonly url: string;
  readonly log: readonly Done[];
  /** Bookings that stand, by seat. */
  bookings(): Readonly<Record<string, readonly string[]>>;
  readonly stuck: Set<string>;
  /** Somebody else changes what the seat costs: its version is another one then. */
  reprice(seat: string, price: number): void;
  /** Upgrades that were made. */
  readonly upgrades: readonly string[];
  holdBack(seat: string): { asked: Promise<void>; letGo(): void };
  close(): Promise<void>;
}

export async function startBookingOffice(): Promise<BookingOffice> {
  const log: Done[] = [];
  const byKey = new Map<string, string>();
  const standing = new Map<string, string[]>();
  const stuck = new Set<string>();
  const heldBack = new Map<string, { asked: () => void; open: Promise<void> }>();

  const prices = new Map<string, { price: number; version: number }>();
  const upgrades: string[] = [];
  const priced = (seat: string) => prices.get(seat) ?? { price: 2500, version: 1 };
  const reprice = (seat: string, price: number): void =>
    void prices.set(seat, { price, version: priced(seat).version + 1 });

  function look(seat: string): [number, object] {
    const { price, version } = priced(seat);
    // A seat of which the office says too little.
    const known = seat.startsWith('bare') ? {} : { price };
    return [200, { seat, owner: 'acme', state: 'open', version: `"v${version}"`, ...known }];
  }

  function upgrade(seat: string, version: string): [number, object] {
    if (version !== `"v${priced(seat).version}"`) return [412, { error: 'changed' }];
    upgrades.push(seat);
    return [201, { upgrade: `u-${upgrades.length}` }];
  }

  function book(seat: string, key: string): [number, object] {
    if (seat.startsWith('full')) return [409, { error: 'taken' }];
    const known = byKey.get(key);
    if (known !== undefined) return [200, { booking: known, seat }];
    const booking = `b-${byKey.size + 1}`;
    byKey.set(key, booking);
    standing.set(seat, [...(standing.get(seat) ?? []), booking]);
    log.push({ what: 'book', seat, booking });
    return [201, { booking, seat }];
  }

  async function cancel(seat: string, booking: string): Promise<[number, object]> {
    const held = heldBack.get(seat);
    held?.asked();
    await held?.open;
    if (stuck.has(seat)) return [422, { error: 'stuck' }];
    const left = (standing.get(seat) ?? []).filter((one) => one !== booking);
    if (left.length === (standing.get(seat) ?? []).length) return [404, { error: 'no such booking' }];
    standing.set(seat, left);
    log.push({ what: 'cancel', seat, booking });
    return [200, { cancelled: booking }];
  }

  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const [, place, of = ''] = /^\/(seats|upgrades)\/?(.*)$/.exec(request.url ?? '') ?? [];
      const send = ([status, body]: [number, object]): void =>
        void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      if (place === 'seats') return send(look(decodeURIComponent(of)));
      const { seat = '', booking = '' } = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, string>;
      if (place === 'upgrades') return send(upgrade(seat, String(request.headers['if-match'])));
      const key = String(request.headers['idempotency-key']);
      void Promise.resolve(request.url === '/bookings' ? book(seat, key) : cancel(seat, booking)).then(send);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    log,
    stuck,
    reprice,
    upgrades,
    bookings: () => Object.fromEntries(standing),
    holdBack(seat) {
      const asked = Promise.withResolvers<void>();
      const open = Promise.withResolvers<void>();
      heldBack.set(seat, { asked: asked.resolve, open: open.promise });
      return { asked: asked.promise, letGo: open.resolve };
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
