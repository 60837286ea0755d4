import { z } from 'zod';
import { onFailureSchema, stageFaults, stagesSchema, toolReferenceSchema, writtenBudgetsSchema } from '#contracts';

/** One file of `agents/`: who the model is, what it is told, and which tools it may be shown. */
const fieldsSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'use lower-case words joined by "-"')
    .max(128),
  model: z.string().min(1).max(128),
  instructions: z.string().min(1).max(65_536),
  /** `ns.name` or `ns.name@version`. */
  toolset: z.array(toolReferenceSchema).max(1000),
  /** Which tools it is shown when; absent: all of them, always. */
  stages: stagesSchema(toolReferenceSchema).optional(),
  budgets: writtenBudgetsSchema.optional(),
  /** What becomes of its effects when a run does not come to a good end; absent: keep. */
  onFailure: onFailureSchema.optional(),
});

export const agentDefinitionSchema = fieldsSchema.superRefine(({ stages, toolset }, context) => {
  for (const { path, message } of stages ? stageFaults(stages, toolset) : [])
    context.addIssue({ code: 'custom', path: ['stages', ...path], message });
});
export type AgentDefinition = z.infer<typeof agentDefinitionSchema>;
