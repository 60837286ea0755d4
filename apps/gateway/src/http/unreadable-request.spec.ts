import http from 'node:http';
import net from 'node:net';
import { answerUnreadable } from './unreadable-request.ts';

describe('what is no HTTP request', () => {
  let server: http.Server;
  beforeAll(async () => {
    server = http.createServer({ maxHeaderSize: 1024 }, (_request, response) => response.end('ok'));
    server.on('clientError', answerUnreadable);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  const send = (bytes: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1', () => socket.write(bytes));
      let text = '';
      socket.on('data', (part) => (text += part.toString()));
      socket.on('end', () => resolve(text));
      socket.on('error', reject);
    });

  it.each([
    ['bytes of another protocol', 'GARBAGE\r\n\r\n', 400, 'not an HTTP/1.1 request'],
    ['an unknown method', 'FOO / HTTP/1.1\r\nhost: x\r\n\r\n', 400, 'not an HTTP/1.1 request'],
    [
      'a control character in a header',
      'GET / HTTP/1.1\r\nhost: x\r\na: \u0001\r\n\r\n',
      400,
      'not an HTTP/1.1 request',
    ],
    [
      'headers without an end',
      `GET / HTTP/1.1\r\nhost: x\r\na: ${'a'.repeat(2000)}\r\n\r\n`,
      431,
      'larger than is allowed',
    ],
  ])('%s is answered with a problem document, and the connection ends (G10)', async (_name, bytes, status, detail) => {
    const [head, body] = (await send(bytes)).split('\r\n\r\n') as [string, string];
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*content-type: application/problem\\+json`));
    expect(JSON.parse(body)).toMatchObject({ status, code: 'INVALID_ARGS', detail: expect.stringContaining(detail) });
  });
});
