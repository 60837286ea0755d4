import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { newId } from '#kernel';
import { HttpProblem, problemDocument } from '../domain/problem.ts';

const PROBLEMS: Readonly<Record<string, readonly [status: number, detail: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers are larger than is allowed'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time'],
};

/** Bytes that Node cannot read as a request reach no route: they are answered here, on the socket, as any other error. */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const [status, detail] = PROBLEMS[error.code ?? ''] ?? [400, 'The bytes are not an HTTP/1.1 request'];
  const requestId = newId('req');
  const body = JSON.stringify(problemDocument(new HttpProblem(status, 'INVALID_ARGS', detail), requestId));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/problem+json',
    'cache-control: no-store',
    `x-request-id: ${requestId}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
