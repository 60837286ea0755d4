import { z } from 'zod';
import { onFailureSchema, writtenBudgetsSchema } from '#contracts';

/** One file of `agents/`: who the model is, what it is told, and which tools it may be shown. */
export const agentDefinitionSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'use lower-case words joined by "-"')
    .max(128),
  model: z.string().min(1).max(128),
  instructions: z.string().min(1).max(65_536),
  /** `ns.name` or `ns.name@version`. */
  toolset: z
    .array(
      z
        .string()
        .regex(/^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*(@\d+\.\d+\.\d+)?$/, 'use "namespace.name" or "namespace.name@1.2.3"'),
    )
    .max(1000),
  budgets: writtenBudgetsSchema.optional(),
  /** What becomes of its effects when a run does not come to a good end; absent: keep. */
  onFailure: onFailureSchema.optional(),
});
export type AgentDefinition = z.infer<typeof agentDefinitionSchema>;
