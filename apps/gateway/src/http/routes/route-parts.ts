import type { z } from 'zod';
import { etag, idempotencyKey, prefer } from '../api.headers.ts';
import type { ApiHeader, ApiResponse } from '../api-route.ts';

export const command = [idempotencyKey, prefer];
export const json = (description: string, schema: z.ZodType, headers?: readonly ApiHeader[]): ApiResponse =>
  headers ? { description, schema, headers } : { description, schema };
export const unchanged: ApiResponse = { description: 'Not changed since the ETag that was named.', headers: [etag] };

/** One document that can be asked for again only when it changed. */
export const resource = (description: string, schema: z.ZodType): Record<number, ApiResponse> => ({
  200: json(description, schema, [etag]),
  304: unchanged,
});
