import { z } from 'zod';
import { CALL_ID_PATTERN, RUN_ID_PATTERN } from '#kernel';

/** Tenants are short, lower case and safe in keys, topics and SQL. */
export const tenantSchema = z.string().regex(/^[a-z][a-z0-9-]{0,62}$/);
export const runIdSchema = z.string().regex(RUN_ID_PATTERN);
export const callIdSchema = z.string().regex(CALL_ID_PATTERN);
export const digestSchema = z.string().regex(/^sha256:[0-9a-f]{64}$/);

/** What every message carries around its `data`. Unknown optional fields are kept. */
export const envelopeSchema = z.looseObject({
  id: z.string().min(1).max(64),
  type: z.string().min(1).max(64),
  /** Major version of the data; a newer one than the catalogue knows goes to the dead letters. */
  schemaVersion: z.int().min(1),
  tenant: tenantSchema,
  runId: runIdSchema.optional(),
  callId: callIdSchema.optional(),
  causationId: z.string().max(64).optional(),
  /** W3C traceparent. */
  correlationId: z.string().max(128).optional(),
  /** RFC 3339. */
  occurredAt: z.string(),
  data: z.unknown(),
});

/** Who acts. It comes from a credential or from a message of ours, never from a request body or a model. */
export const principalSchema = z.object({
  id: z.string().min(1).max(128),
  kind: z.enum(['user', 'service', 'agent']),
  roles: z.array(z.string().min(1).max(64)).max(64),
});
export type Principal = z.infer<typeof principalSchema>;
