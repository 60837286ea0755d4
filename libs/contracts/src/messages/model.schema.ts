import { z } from 'zod';
import { ERROR_CODE_NAMES } from '#kernel';
import { callIdSchema, digestSchema } from '../envelope.schema.ts';
import { LIMIT_NAMES } from './budgets.schema.ts';
import { agentSchema, proposalSchema } from './run.schema.ts';
import { toolChoiceSchema } from './stages.schema.ts';

/** The result of one proposal, for the model; exactly one for each proposal of the turn before, in its order. */
export const turnResultSchema = z.object({
  callId: callIdSchema,
  providerCallId: z.string().max(512),
  /** The model-facing view or the error, as text. */
  output: z.string(),
});
export type TurnResult = z.infer<typeof turnResultSchema>;

export const requestTurnSchema = z.object({
  turn: z.int().min(1),
  agent: agentSchema,
  /** The user's input, on the first turn only. */
  input: z.string().optional(),
  /** Results of the proposals of the turn before. */
  results: z.array(turnResultSchema),
  /** What people did in the run while the model waited; to be said after the results. */
  note: z.string().max(32_768).optional(),
  /** Contracts that the model is shown, by digest. */
  toolset: z.array(z.object({ tool: z.string(), digest: digestSchema })),
  /** Absent: auto. */
  toolChoice: toolChoiceSchema.optional(),
  parallelToolCalls: z.boolean().default(true),
  /** What is left for this turn. */
  limits: z
    .object({
      maxOutputTokens: z.int().min(1),
      /** Of request and answer together, as far as the tenant has reserved them. */
      maxTokens: z.int().min(1).optional(),
      /** US dollars; a model without a price is then refused. null = the cost may be unknown. */
      maxCostUsd: z.number().min(0).nullable(),
    })
    .optional(),
});
export type RequestTurn = z.infer<typeof requestTurnSchema>;

export const usageSchema = z.object({
  inputTokens: z.int().nullable(),
  outputTokens: z.int().nullable(),
  /** US dollars by the price table; null = unknown, which is not zero. */
  costUsd: z.number().min(0).nullable().optional(),
});
export type Usage = z.infer<typeof usageSchema>;

export const turnCompletedSchema = z.object({
  turn: z.int().min(1),
  proposals: z.array(proposalSchema.extend({ providerCallId: z.string().max(512) })),
  /** Text of the model beside or instead of calls: untrusted. */
  text: z.string().nullable(),
  responseId: z.string().nullable(),
  usage: usageSchema,
});
export type TurnCompleted = z.infer<typeof turnCompletedSchema>;

export const turnFailedSchema = z.object({
  turn: z.int().min(1),
  code: z.enum(ERROR_CODE_NAMES),
  message: z.string(),
  /** The limit of the run that would have been passed. */
  limit: z.enum(LIMIT_NAMES).optional(),
  /** What the provider counted all the same. */
  usage: usageSchema.optional(),
});
export type TurnFailed = z.infer<typeof turnFailedSchema>;
