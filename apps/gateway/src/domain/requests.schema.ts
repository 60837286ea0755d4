import { z } from 'zod';
import {
  digestSchema,
  issueDetails,
  leftoverSchema,
  MAX_EVIDENCE_CHARS,
  onFailureSchema,
  resolutionSchema,
  standingScopeSchema,
  toolContractSchema,
  writtenBudgetsSchema,
} from '#contracts';
import { CountersignError } from '#kernel';

const toolName = z.string().min(1).max(256);
/** A provider's raw text or an object; the orchestrator's strict parser judges the text. */
const callArguments = z.union([z.string().max(262_144), z.record(z.string(), z.unknown())], {
  error: 'expected an object, or the raw text of one',
});
const taskId = z.string().min(1).max(256).optional();
const labels = z
  .record(z.string().min(1).max(64), z.string().max(256))
  .refine((value) => Object.keys(value).length <= 32, 'at most 32 labels')
  .optional();
const onFailure = onFailureSchema
  .optional()
  .describe('What becomes of the effects when the run does not come to a good end: keep (default), compensate, ask.');
/** Limits are checked here and filled in later, with the agent's own in between. */
const budgets = writtenBudgetsSchema.optional();

export const agentRunSchema = z.strictObject({
  driver: z.literal('agent').default('agent'),
  agent: z.string().min(1).max(128),
  input: z.string().min(1).max(262_144),
  taskId,
  onFailure,
  budgets,
  labels,
});
export const clientRunSchema = z.strictObject({
  driver: z.literal('client'),
  /** Names of tools; absent = all that are published. */
  toolset: z.array(toolName).min(1).max(1000).optional(),
  taskId,
  onFailure,
  budgets,
  labels,
});
export type RunRequest = z.infer<typeof agentRunSchema> | z.infer<typeof clientRunSchema>;

export const directCallSchema = z.strictObject({
  tool: toolName,
  arguments: callArguments,
  taskId,
  providerCallId: z.string().min(1).max(512).optional(),
});
export type CallRequest = z.infer<typeof directCallSchema>;

export const proposalsSchema = z.strictObject({
  calls: z
    .array(
      z.strictObject({
        tool: toolName,
        arguments: callArguments,
        providerCallId: z.string().min(1).max(512).optional(),
        dependsOn: z
          .array(z.string().min(1).max(512))
          .max(64)
          .optional()
          .describe(
            'callIds, or providerCallIds of this or an earlier request: it waits for exactly these and needs their success. ' +
              'Absent: reads run side by side, each write after all that was proposed before it.',
          ),
      }),
    )
    .min(1)
    .max(64),
});
export type ProposalsRequest = z.infer<typeof proposalsSchema>;

export const emptySchema = z.strictObject({});

export const cancelSchema = z.strictObject({ reason: z.string().min(1).max(2000).optional() });
export type CancelRequest = z.infer<typeof cancelSchema>;

export const resumeSchema = z.strictObject({
  /** The limits to raise; none for a run that a limit of its tenant ended. */
  budgets: writtenBudgetsSchema.default({}),
});
export type ResumeRequest = z.infer<typeof resumeSchema>;

export const compensateSchema = z.strictObject({
  decision: z.enum(['compensate', 'keep']).default('compensate'),
  calls: z
    .array(leftoverSchema)
    .min(1)
    .max(1000)
    .optional()
    .describe('What becomes of calls that an earlier way back has left; absent = all that can be undone is tried.'),
});
export type CompensateRequest = z.infer<typeof compensateSchema>;

export const decisionSchema = z.strictObject({
  decision: z.enum(['approved', 'rejected']),
  digest: digestSchema,
  reason: z.string().max(2000).optional(),
});
export type DecisionRequest = z.infer<typeof decisionSchema>;

/** Nothing is approved by it: the call is denied, and the edited one is asked about anew. */
export const editSchema = z.strictObject({
  decision: z.literal('edited'),
  digest: digestSchema,
  arguments: z.record(z.string(), z.unknown()).describe('All of them, as the tool takes them.'),
  reason: z.string().max(2000).optional(),
});
export type EditRequest = z.infer<typeof editSchema>;

export const answerSchema = z.discriminatedUnion('decision', [decisionSchema, editSchema]);

export const withdrawalSchema = z.strictObject({ reason: z.string().min(1).max(2000).optional() });
export type WithdrawalRequest = z.infer<typeof withdrawalSchema>;

export const resolveSchema = z.strictObject({
  resolution: resolutionSchema,
  evidence: z
    .string()
    .min(1)
    .max(MAX_EVIDENCE_CHARS)
    .regex(/\S/, 'say how you know')
    .refine((text) => !text.includes('\0'), 'holds a character that cannot be stored')
    .describe('How you know: where you looked and what you saw. Other people and the record keep it.'),
  result: z.unknown().optional().describe('With `applied`: what the tool would have answered.'),
});
export type ResolveRequest = z.infer<typeof resolveSchema>;

/** A tool contract as the registry takes it; `docs/guide/first-tool.md` explains the fields. */
export const contractSchema = toolContractSchema;

const reasonText = z
  .string()
  .min(1)
  .max(2000)
  .refine((text) => !text.includes('\0'), 'holds a character that cannot be stored');

export const standingSchema = z.strictObject({
  reason: reasonText.describe('Why; stands in the history of the tool.'),
});

export const reviewSchema = z.strictObject({
  decision: z.enum(['approve', 'reject']),
  digest: digestSchema.describe('Of the contract that was looked at.'),
  reason: reasonText.optional(),
});

export const standingRequestSchema = z.strictObject({
  tool: toolName.describe('ns.name or ns.name@version; it stays bound to the version that is live now.'),
  principal: z.string().min(1).max(128).optional().describe('Id of the only one who may use it; absent = any.'),
  resources: standingScopeSchema.shape.resources
    .unwrap()
    .optional()
    .describe('Each resource of a call must match one of these; `*` stands for any text.'),
  maxAmount: z.int().min(0).optional().describe('Of one call, in the units of the amountArgument.'),
  totalAmount: z.int().min(0).optional().describe('Of all uses together.'),
  uses: standingScopeSchema.shape.uses,
  expiresAt: standingScopeSchema.shape.expiresAt,
  reason: z.string().min(1).max(2000).optional(),
});
export type StandingRequest = z.infer<typeof standingRequestSchema>;

/** @throws CountersignError INVALID_ARGS with every fault and its JSON pointer */
export function parseShape<S extends z.ZodType>(schema: S, value: unknown, what: string): z.infer<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const details = issueDetails(expandUnknown(parsed.error.issues));
  const first = details[0];
  const text = first ? `${what}: ${first.path || '/'} ${first.message ?? first.rule}` : what;
  throw new CountersignError('INVALID_ARGS', details.length > 1 ? `${text} (and ${details.length - 1} more)` : text, {
    details,
  });
}

type Issue = z.core.$ZodIssue;

/** Unknown fields are told one by one, each with its own pointer. */
function expandUnknown(issues: readonly Issue[]): { path: PropertyKey[]; code: string; message: string }[] {
  return issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: [...issue.path, key], code: 'unknownField', message: 'is not a known field' }))
      : [{ path: issue.path, code: issue.code, message: issue.message }],
  );
}
