import type { z } from 'zod';

export interface ApiHeader {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType;
}

export interface ApiResponse {
  readonly description: string;
  /** Absent = no body. */
  readonly schema?: z.ZodType;
  /** Default application/json. */
  readonly contentType?: 'application/json' | 'application/problem+json' | 'text/event-stream';
  readonly headers?: readonly ApiHeader[];
}

/** One route of the public API, as the OpenAPI document tells it. */
export interface ApiRoute {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** With `{name}` for parameters. */
  readonly path: string;
  /** Unique. */
  readonly operationId: string;
  readonly tag: 'runs' | 'calls' | 'approvals' | 'tools' | 'audit' | 'usage' | 'service';
  readonly summary: string;
  /** One of these roles is needed; `any` = whoever is authenticated; `public` = nobody is asked. */
  readonly roles: readonly string[] | 'any' | 'public';
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: { readonly schema: z.ZodType; readonly required: boolean };
  readonly requestHeaders?: readonly ApiHeader[];
  /** By status; the problems that any route may answer are among them. */
  readonly responses: Readonly<Record<number, ApiResponse>>;
}
