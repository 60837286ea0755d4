import { z } from 'zod';
import { ERROR_CODE_NAMES } from '#kernel';
import { callIdSchema, digestSchema, principalSchema } from '../envelope.schema.ts';
import { callErrorSchema, resultViewsSchema } from '../result.schema.ts';
import { callStatusSchema } from './call.schema.ts';

/** What a person found out about a call whose outcome was unknown. */
export const resolutionSchema = z.enum(['applied', 'not_applied', 'partially_applied']);
export type Resolution = z.infer<typeof resolutionSchema>;

export const MAX_EVIDENCE_CHARS = 4_000;
const evidence = z.string().min(1).max(MAX_EVIDENCE_CHARS);

/** A person says what became of a call. The orchestrator passes it on to the pool that holds the call's record. */
export const resolveCallSchema = z.object({
  commandId: z.string().min(1).max(64),
  principal: principalSchema,
  /** The run is the envelope's; a call of another one is refused. */
  callId: z.string(),
  resolution: resolutionSchema,
  /** How the person knows. Never in logs or audit. */
  evidence,
  /** What the tool would have answered, if the person has it; goes through the same views as an answer of the tool. */
  result: z.unknown().optional(),
});
export type ResolveCall = z.infer<typeof resolveCallSchema>;

export const reconcileCallSchema = resolveCallSchema.omit({ callId: true });
export type ReconcileCall = z.infer<typeof reconcileCallSchema>;

/** A person has taken a call's effect back by other means. What was seen of it lies with the run. */
export const closeUndoneSchema = z.object({
  commandId: z.string(),
  /** Id of the person who said so. */
  by: z.string(),
});
export type CloseUndone = z.infer<typeof closeUndoneSchema>;

/** The pool cannot obey a ReconcileCall; nothing changed. */
export const resolutionRefusedSchema = z.object({
  commandId: z.string(),
  code: z.enum(ERROR_CODE_NAMES),
  message: z.string(),
});

/** `needs_human`: nobody but a person can find out; the outcome is still unknown. */
export const reconciledStatusSchema = z.enum(['succeeded', 'failed', 'partially_applied', 'needs_human']);
export type ReconciledStatus = z.infer<typeof reconciledStatusSchema>;

/** none = nothing was changed; partial = some of it was; unknown = not known. */
export const effectSchema = z.enum(['none', 'applied', 'partial', 'unknown']);
export type Effect = z.infer<typeof effectSchema>;

/** Amends a CallSettled that says outcome_unknown; the settlement itself stands as it was said. */
export const callReconciledSchema = z.object({
  /** 1, 2, … within the call: the highest one counts. */
  amendment: z.int().min(1),
  reconciledBy: z.enum(['probe', 'person', 'late_answer']),
  status: reconciledStatusSchema,
  effect: effectSchema,
  tool: z.string(),
  contractDigest: digestSchema,
  operationKeyHash: z.string(),
  /** Of an undo: the call that it takes back. */
  undoes: callIdSchema.optional(),
  /** The person's command; null where none gave it. */
  commandId: z.string().nullable(),
  principal: principalSchema.nullable(),
  /** What a person said that another one must confirm. */
  proposed: resolutionSchema.nullable(),
  /** Words of a person or of the runtime: for people alone. */
  evidence,
  evidenceDigest: digestSchema,
  error: callErrorSchema.nullable(),
  result: resultViewsSchema.nullable(),
});
export type CallReconciled = z.infer<typeof callReconciledSchema>;

/** Every state in which a call may be shown once it was settled. */
export const SETTLED_STATUSES = [...callStatusSchema.options, 'partially_applied', 'needs_human'] as const;
export type ShownStatus = (typeof SETTLED_STATUSES)[number];
