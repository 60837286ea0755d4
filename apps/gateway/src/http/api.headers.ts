import { z } from 'zod';
import type { ApiHeader } from './api-route.ts';

const text = z.string();
const header = (name: string, description: string, schema: z.ZodType = text): ApiHeader => ({
  name,
  description,
  schema,
});

export const idempotencyKey = header(
  'Idempotency-Key',
  '1 to 255 visible ASCII characters without quotes, bare or in double quotes. The same key and content do the thing once.',
  z.string().max(257),
);
export const prefer = header('Prefer', 'wait=N: answer the outcome, if it comes within N seconds (at most 60).');
export const ifNoneMatch = header(
  'If-None-Match',
  'ETags that the caller has: 304 when the current one is among them.',
);
export const ifMatch = header('If-Match', 'The ETag of the approval as it was looked at: 412 when it has changed.');
export const lastEventId = header('Last-Event-ID', 'The id of the last event that came: what follows is sent.');

export const etag = header('ETag', 'Names this state of the document.');
export const location = header('Location', 'Where to look for the outcome.');
export const retryAfter = header('Retry-After', 'Seconds to wait.', z.int());
export const allow = header('Allow', 'The methods that this address takes.');
export const challenge = header('WWW-Authenticate', 'How to authenticate.');
export const rateLimit = header('RateLimit', 'What is left of the rate: "caller";r=requests;t=seconds.');
export const rateLimitPolicy = header('RateLimit-Policy', 'The rate: "caller";q=requests;w=seconds.');
