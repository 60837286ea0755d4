import type { Headers } from '../domain/request-headers.ts';

/** What the controllers use of Fastify's request and reply. */
export interface HttpRequest {
  readonly id: string;
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: Headers;
  /** Raw bytes: the strict parser reads them. */
  readonly body: Uint8Array | undefined;
  readonly query: Readonly<Record<string, unknown>>;
}

export interface HttpReply {
  status(code: number): HttpReply;
  header(name: string, value: string): HttpReply;
  type(contentType: string): HttpReply;
  send(body: unknown): void;
  readonly raw: { readonly destroyed: boolean };
}
