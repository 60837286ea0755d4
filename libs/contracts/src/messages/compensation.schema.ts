import { z } from 'zod';
import { callIdSchema, principalSchema } from '../envelope.schema.ts';

const text = z.string().min(1).max(4000);

/** What a person does with a call that an earlier way back has left. */
export const leftoverSchema = z.discriminatedUnion('how', [
  z.strictObject({ callId: callIdSchema, how: z.literal('retry') }),
  z.strictObject({ callId: callIdSchema, how: z.literal('skip'), reason: text }),
  /** It was undone by other means. */
  z.strictObject({ callId: callIdSchema, how: z.literal('done'), evidence: text }),
]);
export type Leftover = z.infer<typeof leftoverSchema>;

export const compensateRunSchema = z.object({
  commandId: z.string().min(1).max(64),
  principal: principalSchema,
  decision: z.enum(['compensate', 'keep']),
  /** Only after a way back that left something. */
  calls: z.array(leftoverSchema).max(1000).default([]),
});
export type CompensateRun = z.infer<typeof compensateRunSchema>;

export const compensationAskedSchema = z.object({
  /** Calls that can be undone, the last first. */
  callIds: z.array(callIdSchema),
  /** RFC 3339: without an answer until then the effects are kept. */
  expiresAt: z.string(),
});
export type CompensationAsked = z.infer<typeof compensationAskedSchema>;

export const compensationStartedSchema = z.object({
  /** 1, 2, … */
  round: z.int().min(1),
  /** The run's episode that it belongs to; a new one where the run had ended before. */
  episode: z.int().min(1),
  /** null: the run's own onFailure. */
  commandId: z.string().nullable(),
  /** Id of the person who said so. */
  by: z.string().nullable(),
  /** Calls that are to be undone, the last first. */
  callIds: z.array(callIdSchema),
  /** What the person said of calls that were left, with the reason or evidence. */
  leftovers: z.array(leftoverSchema),
});
export type CompensationStarted = z.infer<typeof compensationStartedSchema>;

/** Why a call was not undone. */
export const remainderReasonSchema = z.enum([
  /** The undo could not be made, was refused, or failed. */
  'undo_failed',
  /** It is not known whether the undo had its effect. */
  'undo_unknown',
  /** Nobody answered for the undo in time. */
  'undo_unanswered',
  /** It is not known whether the call itself had its effect: reconcile it first. */
  'outcome_unknown',
  /** It became known only after the way back that the call had happened. */
  'known_later',
  /** The call itself was applied in part: no undo fits. */
  'partially_applied',
  /** It lies under another call's effect that is still there. */
  'blocked',
  /** The way back was cancelled before its turn. */
  'cancelled',
]);
export type RemainderReason = z.infer<typeof remainderReasonSchema>;

export const compensationEndedSchema = z.object({
  round: z.int().min(1),
  episode: z.int().min(1),
  status: z.enum(['done', 'partial']),
  /** Over all rounds. */
  undone: z.array(callIdSchema),
  /** Skipped by a person. */
  skipped: z.array(callIdSchema),
  remainder: z.array(
    z.object({ callId: callIdSchema, reason: remainderReasonSchema, undoCallId: callIdSchema.nullable() }),
  ),
  /** Writes that stay: nothing undoes them, or they lie before a point of no return. */
  kept: z.array(callIdSchema),
});
export type CompensationEnded = z.infer<typeof compensationEndedSchema>;

export const COMPENSATION_STATUSES = ['none', 'running', 'done', 'partial'] as const;
export type CompensationStatus = (typeof COMPENSATION_STATUSES)[number];

/** What views say of a succeeded call once its run went back. */
export const TAKEN_BACK_STATUSES = ['compensated', 'compensation_failed'] as const;
