import net, { type AddressInfo } from 'node:net';
import { createRunner, type DefinedTool, type RunOutcome, type RunRequest, type Runner } from '#tools';
import { openHttpToolServer, type HttpToolServer } from '../../testing/http-tool-server.ts';
import { sampleRead, sampleWrite } from '../../testing/sample-contract.ts';
import { sampleRequest } from '../../testing/sample-request.ts';

describe('the HTTP runner, without an answer', () => {
  let server: HttpToolServer;
  let runner: Runner;
  beforeAll(async () => {
    server = await openHttpToolServer();
    runner = createRunner({
      env: { TOOL_URL: server.url, TOKEN: 'tok-5f3a9c' },
      secrets: ['tok-5f3a9c'],
      capBytes: 10_000,
      now: () => Date.parse('2026-01-01T00:00:00Z'),
    });
  });
  afterAll(async () => {
    runner.close();
    await server.close();
  });
  beforeEach(() => {
    server.seen.length = 0;
    server.answer = (_request, response) => response.end();
  });

  const url = '${TOOL_URL}/things';
  const read = (changes: object = {}): DefinedTool =>
    sampleRead({ execution: { kind: 'http', method: 'GET', url }, ...changes });
  const write = (changes: object = {}): DefinedTool =>
    sampleWrite({ execution: { kind: 'http', method: 'POST', url }, ...changes });
  const run = (tool: DefinedTool, changes: Partial<RunRequest> = {}): Promise<RunOutcome> =>
    runner.run(sampleRequest(tool, changes));

  /** A port that takes connections and treats them as `handle` says. */
  const withSocket = async (
    handle: (socket: net.Socket) => void,
    work: (base: string) => Promise<void>,
  ): Promise<void> => {
    const sockets = new Set<net.Socket>();
    const raw = net.createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      handle(socket);
    });
    await new Promise<void>((resolve) => raw.listen(0, '127.0.0.1', resolve));
    await work(`http://127.0.0.1:${(raw.address() as AddressInfo).port}`);
    sockets.forEach((socket) => socket.destroy());
    await new Promise((resolve) => raw.close(resolve));
  };
  const at = (base: string, scheme?: string): object => ({
    execution: { kind: 'http', method: 'POST', url: scheme ? base.replace('http:', scheme) : base },
    timeoutMs: 1000,
  });

  it('because nobody listens or the name is unknown: nothing was sent', async () => {
    let free = '';
    await withSocket(
      () => undefined,
      (base) => Promise.resolve(void (free = base)),
    );
    for (const base of [free, 'http://no-such-host.invalid/']) {
      expect(await run(write({ ...at(base), timeoutMs: 5000 }))).toMatchObject({
        sent: 'not_sent',
        noEffect: true,
        error: { code: 'UPSTREAM_UNAVAILABLE', retryable: true },
      });
    }
  });

  it('because TLS fails: nothing was sent', async () => {
    await withSocket(
      (socket) => socket.end('no tls here'),
      async (base) => {
        expect(await run(write(at(base, 'https:')))).toMatchObject({ sent: 'not_sent', noEffect: true });
      },
    );
  });

  it('because the connection was cut after the request, or within the answer: a write is unknown, a read may be repeated', async () => {
    const cut = (socket: net.Socket): void => void socket.once('data', () => socket.destroy());
    const half = (socket: net.Socket): void =>
      void socket.once('data', () =>
        socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"a":'),
      );
    for (const handle of [cut, half]) {
      await withSocket(handle, async (base) => {
        expect(await run(write(at(base)))).toMatchObject({
          sent: 'maybe_sent',
          noEffect: false,
          error: { code: 'OUTCOME_UNKNOWN' },
        });
        expect(await run(read(at(base)))).toMatchObject({
          sent: 'maybe_sent',
          noEffect: true,
          error: { code: 'UPSTREAM_ERROR', retryable: true },
        });
      });
    }
  });

  it('in time: a write is unknown, never "failed"; a read is TIMEOUT', async () => {
    await withSocket(
      () => undefined,
      async (base) => {
        expect(await run(write(at(base)))).toMatchObject({
          sent: 'maybe_sent',
          noEffect: false,
          error: { code: 'OUTCOME_UNKNOWN' },
        });
        expect(await run(read(at(base)))).toMatchObject({
          noEffect: true,
          error: { code: 'TIMEOUT', retryable: true },
        });
      },
    );
  });

  it('because the call was stopped: before the first byte nothing happened, after it a write is unknown', async () => {
    expect(await run(write(), { signal: AbortSignal.abort() })).toMatchObject({
      sent: 'not_sent',
      error: { code: 'CANCELLED' },
    });
    expect(server.seen).toEqual([]);
    const stop = new AbortController();
    server.answer = () => stop.abort();
    expect(await run(write(), { signal: stop.signal })).toMatchObject({
      sent: 'maybe_sent',
      error: { code: 'OUTCOME_UNKNOWN' },
    });
  });

  it('because the request cannot be made: nothing was sent', async () => {
    const bad = write({ execution: { kind: 'http', method: 'POST', url, headers: { x: 'a\nb' } } });
    expect(await run(bad)).toMatchObject({ sent: 'not_sent', noEffect: true });
    expect(server.seen).toEqual([]);
  });
});
