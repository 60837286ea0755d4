import { z } from 'zod';
import { ERROR_CODE_NAMES } from '#kernel';
import { callIdSchema } from './envelope.schema.ts';

export const errorDetailSchema = z.object({
  path: z.string(),
  rule: z.string(),
  message: z.string().optional(),
  allowed: z.array(z.unknown()).optional(),
});

/** What a call failed with, and what a model, a program and a person can do next. */
export const callErrorSchema = z.object({
  code: z.enum(ERROR_CODE_NAMES),
  message: z.string(),
  details: z.array(errorDetailSchema).optional(),
  retryable: z.boolean(),
  retryAfterMs: z.number().nullable().optional(),
  requiresApproval: z.boolean().optional(),
  userActionRequired: z.boolean().optional(),
  humanTakeover: z.boolean().optional(),
  changeArguments: z.boolean().optional(),
  /** The call that goes on in this one's place: a person changed its arguments. */
  replacedBy: callIdSchema.optional(),
});
export type CallError = z.infer<typeof callErrorSchema>;

/** The views of one result, linked by digests. `raw` never travels: only its digest does. */
export const resultViewsSchema = z.object({
  rawDigest: z.string(),
  sanitizedDigest: z.string(),
  modelDigest: z.string(),
  /** What people, the API and audit may see. */
  sanitized: z.unknown(),
  /** The only text that a model gets: labelled, size-limited, untrusted data. */
  model: z.string(),
  truncated: z.object({ reason: z.string(), originalBytes: z.number() }).nullable(),
  redactions: z.number().int(),
  evidence: z.object({
    resourceIds: z.array(z.string()),
    sources: z.array(z.object({ id: z.string(), digest: z.string().optional(), locator: z.string().optional() })),
  }),
  /** A fault of the view (INVALID_RESULT, RESULT_TOO_LARGE, RESULT_BLOCKED): the effect stands all the same. */
  fault: callErrorSchema.nullable(),
});
export type ResultViews = z.infer<typeof resultViewsSchema>;
