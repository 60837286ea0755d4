import { z } from 'zod';

/** What a run may use before it ends as budget_exhausted. Every limit is finite, and each counts over all episodes. */
export const budgetsSchema = z.object({
  /** Requests to the model. */
  maxTurns: z.int().min(1).max(200).default(12),
  /** Calls that were proposed, whatever became of them. */
  maxCalls: z.int().min(1).max(1000).default(40),
  /** Calls that are out at the same time. */
  maxParallel: z.int().min(1).max(64).default(8),
  /** Milliseconds; the clock stands still while only a person is waited for. */
  wallClockMs: z.int().min(1000).max(86_400_000).default(600_000),
  /** Tokens sent to the model, summed over the turns. */
  maxInputTokens: z.int().min(1).max(1_000_000_000).default(2_000_000),
  /** Tokens that the model wrote, its reasoning with it. */
  maxOutputTokens: z.int().min(1).max(1_000_000_000).default(200_000),
  /** US dollars by the installation's price table. */
  maxCostUsd: z.number().min(0).max(1_000_000).default(100),
  /** Go on with a model that has no price, whatever maxCostUsd says. */
  allowUnknownCost: z.boolean().default(false),
  /** Bytes of the model-facing views of results. */
  maxResultBytes: z.int().min(1).max(1_073_741_824).default(8_388_608),
  /** Times that the same call may end unchanged before it is refused. */
  maxRepeats: z.int().min(1).max(100).default(3),
  /** Failures of one tool in a row, whatever its arguments. */
  maxToolFailures: z.int().min(1).max(100).default(3),
  /** Invalid proposals of one tool since its last valid one. */
  maxCorrections: z.int().min(0).max(100).default(5),
  /** Milliseconds that a person has for one decision, within what the tool's contract says. */
  approvalTtlMs: z.int().min(1000).max(604_800_000).default(3_600_000),
});
export type Budgets = z.infer<typeof budgetsSchema>;
export type LimitName = keyof Budgets;
export const LIMIT_NAMES = Object.keys(budgetsSchema.shape) as [LimitName, ...LimitName[]];

const { shape } = budgetsSchema;
/** Limits as somebody writes them: each may be left out, and stays out. */
export const writtenBudgetsSchema = z.strictObject({
  maxTurns: shape.maxTurns.unwrap().optional(),
  maxCalls: shape.maxCalls.unwrap().optional(),
  maxParallel: shape.maxParallel.unwrap().optional(),
  wallClockMs: shape.wallClockMs.unwrap().optional(),
  maxInputTokens: shape.maxInputTokens.unwrap().optional(),
  maxOutputTokens: shape.maxOutputTokens.unwrap().optional(),
  maxCostUsd: shape.maxCostUsd.unwrap().optional(),
  allowUnknownCost: shape.allowUnknownCost.unwrap().optional(),
  maxResultBytes: shape.maxResultBytes.unwrap().optional(),
  maxRepeats: shape.maxRepeats.unwrap().optional(),
  maxToolFailures: shape.maxToolFailures.unwrap().optional(),
  maxCorrections: shape.maxCorrections.unwrap().optional(),
  approvalTtlMs: shape.approvalTtlMs.unwrap().optional(),
});
export type WrittenBudgets = z.infer<typeof writtenBudgetsSchema>;

/** The later ones win. A run for which nobody wrote a cost limit may use a model that has no price. */
export function fillBudgets(...written: readonly (WrittenBudgets | undefined)[]): Budgets {
  const all: WrittenBudgets = {};
  for (const budgets of written)
    for (const [name, value] of Object.entries(budgets ?? {}))
      if (value !== undefined) Object.assign(all, { [name]: value });
  return budgetsSchema.parse({ allowUnknownCost: all.maxCostUsd === undefined, ...all });
}
