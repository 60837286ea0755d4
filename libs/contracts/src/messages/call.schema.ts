import { z } from 'zod';
import { ERROR_CODE_NAMES } from '#kernel';
import { callIdSchema, digestSchema, principalSchema } from '../envelope.schema.ts';
import { callErrorSchema, resultViewsSchema } from '../result.schema.ts';
import { cancellationSchema } from './cancellation.schema.ts';
import { editedSchema } from './approval.schema.ts';
import { callFactsSchema } from './facts.schema.ts';
import { driverSchema } from './run.schema.ts';

export const effectClassSchema = z.enum(['read', 'call', 'undo']);
export type EffectClass = z.infer<typeof effectClassSchema>;

/** The call that an undo takes back, and the contract that declares how (class `undo` alone). */
export const undoesSchema = z.object({ callId: callIdSchema, contractDigest: digestSchema });

/** `user`, `model` or `tool:*` per argument pointer; until origins are built the orchestrator gives the coarse answer. */
export const originsSchema = z.record(z.string(), z.string());

/** What is fixed once a proposal was parsed, validated and normalized; every later hop repeats it unchanged. */
export const boundCallSchema = z.object({
  providerCallId: z.string().optional(),
  driver: driverSchema,
  principal: principalSchema,
  /** `ns.name@version`. */
  tool: z.string(),
  contractDigest: digestSchema,
  pool: z.string(),
  effectClass: effectClassSchema,
  /** Normalized: defaults filled in, exactly what will run. */
  arguments: z.record(z.string(), z.unknown()),
  argumentsDigest: digestSchema,
  /** Canonical, sorted. */
  resources: z.array(z.string()),
  /** Tenant and principal prefixed; the callId for `none` tools. */
  operationKey: z.string().max(1024),
  undoes: undoesSchema.optional(),
  /** Of a contract that wants them. */
  facts: callFactsSchema.optional(),
});
export type BoundCall = z.infer<typeof boundCallSchema>;

export const callProposedSchema = boundCallSchema.extend({
  origins: originsSchema,
  /** Epoch milliseconds; no grant is minted and no approval awaited beyond it. */
  runDeadline: z.int(),
  /** Milliseconds: the run leaves a person less time than the contract does. */
  approvalTtlMs: z.int().min(1).optional(),
  edited: editedSchema.optional(),
});
export type CallProposed = z.infer<typeof callProposedSchema>;

/** Asks the holder of the right to settle to end the call, if nothing has begun; otherwise nothing changes. */
export const withdrawCallSchema = z.object({
  /** Who cancelled the run. */
  principal: z.string(),
});
export type WithdrawCall = z.infer<typeof withdrawCallSchema>;

export const callGrantedSchema = boundCallSchema.extend({
  decisionNo: z.int().min(1),
  /** Compact JWS. */
  grant: z.string(),
});
export type CallGranted = z.infer<typeof callGrantedSchema>;

export const callAllowedSchema = z.object({
  decisionNo: z.int().min(1),
  decisionId: z.string(),
  tool: z.string(),
  contractDigest: digestSchema,
  argumentsDigest: digestSchema,
  policyDigest: digestSchema,
  /** Ids of the determining policies. */
  reasons: z.array(z.string()),
  approvalId: z.string().nullable(),
});
export type CallAllowed = z.infer<typeof callAllowedSchema>;

export const grantReturnReason = z.enum([
  'GRANT_EXPIRED',
  'GRANT_INVALID',
  'CONTRACT_CHANGED',
  'LOCK_WAIT',
  /** Of an undo: another run was answered with what it takes back; a person must be asked. */ 'REPLAYED_ELSEWHERE',
]);
/** The grant was not used and can no longer be: not terminal; policy judges again. */
export const grantReturnedSchema = z.object({ decisionNo: z.int().min(1), reason: grantReturnReason });
export type GrantReturned = z.infer<typeof grantReturnedSchema>;

export const callStatusSchema = z.enum([
  'rejected',
  'denied',
  'expired',
  'cancelled',
  'succeeded',
  'failed',
  'outcome_unknown',
]);
export type SettledStatus = z.infer<typeof callStatusSchema>;

/** The one terminal record of a call, published by whoever holds the right to settle it. */
export const callSettledSchema = z.object({
  settledBy: z.enum(['orchestrator', 'policy', 'executor']),
  status: callStatusSchema,
  providerCallId: z.string().optional(),
  /** As asked, when it never got as far as a contract. */
  tool: z.string(),
  contractDigest: digestSchema.nullable(),
  argumentsDigest: digestSchema.nullable(),
  principal: principalSchema.optional(),
  decisionNo: z.int().nullable(),
  approvalId: z.string().nullable(),
  policyDigest: digestSchema.nullable(),
  operationKeyHash: z.string().nullable(),
  /** none = nothing was changed (proved); applied; unknown. Reads are `none`. */
  effect: z.enum(['none', 'applied', 'unknown']),
  /** The recorded result of an earlier call with the same key. */
  replayed: z.boolean(),
  /** Of an undo: the call that it takes back. */
  undoes: callIdSchema.optional(),
  attempts: z.int().min(0),
  durationMs: z.number().min(0),
  error: callErrorSchema.nullable(),
  result: resultViewsSchema.nullable(),
  /** Only of a call that was cancelled before it was settled. */
  cancellation: cancellationSchema.optional(),
});
export type CallSettled = z.infer<typeof callSettledSchema>;

/** A message on a topic that was refused without touching its call: a forged, foreign or misused grant. */
export const grantRefusedSchema = z.object({
  code: z.enum(ERROR_CODE_NAMES),
  message: z.string(),
  grantDigest: digestSchema,
  pool: z.string(),
});
export type GrantRefused = z.infer<typeof grantRefusedSchema>;
