import { z } from 'zod';
import { ERROR_CODE_NAMES } from '#kernel';
import { callIdSchema, digestSchema, principalSchema } from '../envelope.schema.ts';
import { errorDetailSchema } from '../result.schema.ts';
import { compensationEndedSchema } from './compensation.schema.ts';
import { budgetsSchema, LIMIT_NAMES, writtenBudgetsSchema } from './budgets.schema.ts';
import { stagesSchema } from './stages.schema.ts';

/** A tool call as it was asked for, before any check. `arguments` is the raw text, parsed once, strictly, by the orchestrator. */
export const proposalSchema = z.object({
  /** Given by the gateway for direct calls, so that the 202 can name it; else the orchestrator numbers it. */
  callId: callIdSchema.optional(),
  providerCallId: z.string().max(512).optional(),
  /** As asked: `ns.name`, `ns.name@version` or the model-visible name. */
  tool: z.string().max(256),
  arguments: z.string(),
});
export type Proposal = z.infer<typeof proposalSchema>;

/** A tool that this run may use, resolved to its digest by the gateway, which alone knows what is live. */
export const toolRefSchema = z.object({ tool: z.string(), digest: digestSchema });
export type ToolRef = z.infer<typeof toolRefSchema>;

export const agentSchema = z.object({
  name: z.string().min(1).max(128),
  provider: z.enum(['openai-responses']).default('openai-responses'),
  model: z.string().min(1).max(128),
  instructions: z.string().max(65_536),
});
export type AgentRef = z.infer<typeof agentSchema>;

/** `agent`: we drive the model. `client`: the client proposes calls and finishes. `call`: one direct call; the run ends with it. */
export const driverSchema = z.enum(['agent', 'client', 'call']);

/** What becomes of the effects of a run that does not come to a good end. */
export const onFailureSchema = z.enum(['keep', 'compensate', 'ask']);
export type OnFailure = z.infer<typeof onFailureSchema>;

export const startRunSchema = z.object({
  commandId: z.string().min(1).max(64),
  driver: driverSchema,
  principal: principalSchema,
  /** Digest of the request; a repeat of the same run id with another one is an IDEMPOTENCY_CONFLICT. */
  requestDigest: digestSchema,
  agent: agentSchema.optional(),
  input: z.string().max(262_144).optional(),
  toolset: z.array(toolRefSchema).max(1000),
  /** The tools that contracts of the toolset name for their undo or their facts; never offered. */
  undoTools: z.array(toolRefSchema).max(1000).optional(),
  /** Of a run that a model drives; tools as `ns.name@version`. */
  stages: stagesSchema(z.string().max(256)).optional(),
  /** Absent: keep. */
  onFailure: onFailureSchema.optional(),
  taskId: z.string().min(1).max(256).optional(),
  budgets: budgetsSchema,
  labels: z.record(z.string(), z.string()).default({}),
  /** Only for driver `call`: exactly one. */
  proposals: z.array(proposalSchema).max(1).default([]),
});
export type StartRun = z.infer<typeof startRunSchema>;

export const proposeCallsSchema = z.object({
  commandId: z.string().min(1).max(64),
  principal: principalSchema,
  requestDigest: digestSchema,
  /** Each has its callId already. */
  proposals: z
    .array(
      proposalSchema.extend({
        callId: callIdSchema,
        /** What it waits for instead of its place in the order: ids of calls of the run, ours or the client's own. */
        dependsOn: z.array(z.string().min(1).max(512)).max(64).optional(),
      }),
    )
    .min(1)
    .max(64),
});
export type ProposeCalls = z.infer<typeof proposeCallsSchema>;

export const finishRunSchema = z.object({ commandId: z.string().min(1).max(64), principal: principalSchema });
export type FinishRun = z.infer<typeof finishRunSchema>;

/** No more turns or proposals: what has not begun ends as cancelled, running tools are told to stop. */
export const cancelRunSchema = z.object({
  commandId: z.string().min(1).max(64),
  principal: principalSchema,
  reason: z.string().max(2000).optional(),
});
export type CancelRun = z.infer<typeof cancelRunSchema>;

/** Raises limits of a run that ended as budget_exhausted and goes on with it. */
export const resumeRunSchema = z.object({
  commandId: z.string().min(1).max(64),
  principal: principalSchema,
  budgets: writtenBudgetsSchema,
});
export type ResumeRun = z.infer<typeof resumeRunSchema>;

const controlRunSchema = z.object({
  commandId: z.string().min(1).max(64),
  principal: principalSchema,
  /** A person's words. Those of a hand-back are told to the model. */
  reason: z.string().max(2000).optional(),
});
/** Nothing new is begun; what is out comes to its end. */
export const pauseRunSchema = controlRunSchema.extend({});
export type PauseRun = z.infer<typeof pauseRunSchema>;
/** As paused, and a person proposes calls instead of the driver. */
export const takeOverRunSchema = controlRunSchema.extend({});
export type TakeOverRun = z.infer<typeof takeOverRunSchema>;
/** The driver goes on. */
export const handBackRunSchema = controlRunSchema.extend({});
export type HandBackRun = z.infer<typeof handBackRunSchema>;

export const runControlSchema = z.enum(['paused', 'taken_over', 'handed_back']);
export type RunControl = z.infer<typeof runControlSchema>;

export const runStatusSchema = z.enum([
  'running',
  'awaiting_model',
  'awaiting_calls',
  'awaiting_approval',
  'awaiting_user',
  'paused',
  'taken_over',
  'completed',
  'stopped',
  'failed',
  'cancelled',
  'budget_exhausted',
]);
export type RunStatus = z.infer<typeof runStatusSchema>;
export const runOutcomeSchema = z.enum(['all_succeeded', 'some_failed', 'some_unknown', 'no_effects']);
export type RunOutcome = z.infer<typeof runOutcomeSchema>;

export const runStartedSchema = z.object({
  driver: driverSchema,
  principal: principalSchema,
  requestDigest: digestSchema,
  agentName: z.string().optional(),
  taskId: z.string().optional(),
  /** Dense per tenant and orchestrator shard. */
  runNo: z.int().optional(),
  callIds: z.array(callIdSchema),
  labels: z.record(z.string(), z.string()).default({}),
});
export type RunStarted = z.infer<typeof runStartedSchema>;

/** A command that no longer fits is answered as such. */
export const commandRefusedSchema = z.object({
  commandId: z.string(),
  code: z.enum(ERROR_CODE_NAMES),
  message: z.string(),
  /** Where the command itself is at fault; without them the state of the run does not allow it. */
  details: z.array(errorDetailSchema).optional(),
});
export type CommandRefused = z.infer<typeof commandRefusedSchema>;

export const turnRecordedSchema = z.object({
  turn: z.int().min(1),
  callIds: z.array(callIdSchema),
  inputTokens: z.int().nullable(),
  outputTokens: z.int().nullable(),
  /** US dollars by the price table; null = the model has no price there. */
  costUsd: z.number().min(0).nullable().optional(),
  /** The model's final answer: untrusted text; only on the last turn. */
  answer: z.string().nullable(),
  /** In which the turn was asked for; absent in a run without stages. Stages only go forward. */
  stage: z.object({ no: z.int().min(1), name: z.string() }).optional(),
});
export type TurnRecorded = z.infer<typeof turnRecordedSchema>;

/** What a run has used; where the provider said nothing, what was reserved for it. */
export const runUsageSchema = z.object({
  inputTokens: z.int().min(0),
  outputTokens: z.int().min(0),
  /** null: at least one turn has no known price. */
  costUsd: z.number().min(0).nullable(),
  resultBytes: z.int().min(0),
});
export type RunUsage = z.infer<typeof runUsageSchema>;

/** A limit of all runs of the tenant together. */
export const tenantLimitSchema = z.object({
  period: z.enum(['day', 'month']),
  limit: z.enum(['calls', 'tokens', 'costUsd']),
  most: z.number().min(0),
  /** RFC 3339: when the next period begins. */
  renewsAt: z.string().max(32),
});
export type TenantLimit = z.infer<typeof tenantLimitSchema>;

export const runEndedSchema = z.object({
  status: runStatusSchema,
  outcome: runOutcomeSchema,
  /**
   * Which limit or error ended it; null after a final answer or finish. `limit`: raise this one to go on. `tenant`: the run
   * goes on as it is once that limit is renewed or raised.
   */
  cause: z
    .object({
      code: z.enum(ERROR_CODE_NAMES),
      message: z.string(),
      limit: z.enum(LIMIT_NAMES).optional(),
      tenant: tenantLimitSchema.optional(),
    })
    .nullable(),
  episode: z.int().min(1),
  callCount: z.int().min(0),
  /** Digest over all callIds so far, sorted. */
  callsDigest: digestSchema,
  turns: z.int().min(0),
  answer: z.string().nullable(),
  /** Over all episodes; absent for a direct call. */
  usage: runUsageSchema.optional(),
});
export type RunEnded = z.infer<typeof runEndedSchema>;

/** A person paused the run, took it over or handed it back. */
export const runControlledSchema = z.object({
  commandId: z.string(),
  /** Dense per run: the highest one holds. */
  no: z.int().min(1),
  /** It holds in this episode. */
  episode: z.int().min(1),
  control: runControlSchema,
  /** Id of the principal. */
  by: z.string(),
  reason: z.string().nullable(),
});
export type RunControlled = z.infer<typeof runControlledSchema>;

/** The run goes on in a new episode; a RunEnded with this episode ends it again. */
export const runResumedSchema = z.object({
  commandId: z.string(),
  /** The one that begins: 2 after the first end. */
  episode: z.int().min(2),
  /** All limits as they hold now. */
  budgets: budgetsSchema,
});
export type RunResumed = z.infer<typeof runResumedSchema>;

/** What became known after the end: RunEnded stands as it was said, this is what holds now. */
export const runAmendedSchema = z.object({
  episode: z.int().min(1),
  /** 1, 2, … within the run: the highest one counts. */
  amendment: z.int().min(1),
  outcome: runOutcomeSchema,
  /** Of a run that went back: what its last round has left, as it is known now. */
  compensation: compensationEndedSchema.omit({ episode: true }).optional(),
});
export type RunAmended = z.infer<typeof runAmendedSchema>;
