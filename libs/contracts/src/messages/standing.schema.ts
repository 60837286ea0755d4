import { z } from 'zod';
import { digestSchema, principalSchema } from '../envelope.schema.ts';

/** What a person allows in advance: so many exact calls of one contract, within these bounds. */
export const standingScopeSchema = z.object({
  /** `ns.name@version`. */
  tool: z.string().max(256),
  contractDigest: digestSchema,
  /** Id of the only principal who may use it; null = any of the tenant. */
  principal: z.string().min(1).max(128).nullable(),
  /** Each resource of a call must match one of these, where `*` stands for any text; null = any. */
  resources: z.array(z.string().min(1).max(256)).min(1).max(32).nullable(),
  /** Of the contract's `amountArgument`, for each use and for all together; null = no bound. */
  maxAmount: z.int().min(0).nullable(),
  totalAmount: z.int().min(0).nullable(),
  uses: z.int().min(1).max(10_000),
  /** RFC 3339. */
  expiresAt: z.iso.datetime(),
});
export type StandingScope = z.infer<typeof standingScopeSchema>;

export const grantStandingSchema = z.object({
  commandId: z.string().min(1).max(64),
  standingId: z.string(),
  principal: principalSchema,
  scope: standingScopeSchema,
  reason: z.string().max(2000).nullable(),
});
export type GrantStanding = z.infer<typeof grantStandingSchema>;

export const revokeStandingSchema = z.object({
  commandId: z.string().min(1).max(64),
  standingId: z.string(),
  principal: principalSchema,
});
export type RevokeStanding = z.infer<typeof revokeStandingSchema>;

export const standingGrantedSchema = z.object({
  commandId: z.string(),
  standingId: z.string(),
  by: principalSchema,
  scope: standingScopeSchema,
});
export type StandingGranted = z.infer<typeof standingGrantedSchema>;

export const standingRevokedSchema = z.object({ commandId: z.string(), standingId: z.string(), by: principalSchema });
export type StandingRevoked = z.infer<typeof standingRevokedSchema>;

export const standingRefusedSchema = z.object({
  commandId: z.string(),
  standingId: z.string(),
  code: z.enum(['PERMISSION_DENIED', 'INVALID_ARGS', 'UNKNOWN_TOOL', 'NOT_FOUND', 'IDEMPOTENCY_CONFLICT']),
  message: z.string(),
});
export type StandingRefused = z.infer<typeof standingRefusedSchema>;
