import net from 'node:net';
import type { ISocketFactory } from 'kafkajs';

const FETCH = 1;
const KEEP_ALIVE_MS = 60_000;

/**
 * The sockets of one kafkajs consumer. A consumer waits seconds in a poll, and kafkajs has no way to end it; we
 * recognize the sockets that carry Fetch requests (kafkajs keeps them apart) and end those, so that a shutdown is quick
 * and the group is still left in order.
 */
export class PollSockets {
  readonly #all = new Set<net.Socket>();
  readonly #polls = new Set<net.Socket>();

  readonly factory: ISocketFactory = ({ host, port, onConnect }) => {
    const socket = net.connect({ host, port }, onConnect);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.setNoDelay(true);
    this.#all.add(socket);
    socket.once('close', () => {
      this.#all.delete(socket);
      this.#polls.delete(socket);
    });
    const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
    socket.write = ((chunk: unknown, ...rest: unknown[]) => {
      if (Buffer.isBuffer(chunk) && chunk.length >= 6 && chunk.readInt16BE(4) === FETCH) {
        this.#polls.add(socket);
        delete (socket as { write?: unknown }).write; // recognized: back to the plain method
      }
      return write(chunk, ...rest);
    }) as typeof socket.write;
    return socket;
  };

  endPolls(): void {
    // an error, not a plain end: after an end kafkajs would drop the broker's other connection too, and could not leave the group
    for (const socket of this.#polls) socket.destroy(new Error('the poll was ended'));
    this.#polls.clear();
  }

  /** Whatever is under way fails now. */
  destroyAll(): void {
    for (const socket of this.#all) socket.destroy(new Error('the consumer was stopped'));
  }
}
