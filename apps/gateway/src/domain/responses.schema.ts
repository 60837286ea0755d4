import { z } from 'zod';
import {
  callErrorSchema,
  callIdSchema,
  cancellationSchema,
  digestSchema,
  driverSchema,
  effectSchema,
  runIdSchema,
  remainderReasonSchema,
  runOutcomeSchema,
  resolutionSchema,
  runStatusSchema,
  COMPENSATION_STATUSES,
  TAKEN_BACK_STATUSES,
  SETTLED_STATUSES,
} from '#contracts';
import { ERROR_CODE_NAMES } from '#kernel';
import { HISTORY_WORDS } from './call-history.ts';
import { APPROVAL_STATUSES, OPEN_CALL_STATUSES } from './queries.schema.ts';

export * from './tool-responses.schema.ts';

/** What the API answers. Objects may gain fields; a client ignores what it does not know. */
const time = z.iso.datetime().describe('RFC 3339');
const effect = effectSchema;
const accepted = z.literal('accepted').describe('The command is durable; look again for what becomes of it.');

const detail = z.looseObject({
  path: z.string().describe('JSON pointer, `header:` or `query:` and a name; "" = the whole.'),
  rule: z.string(),
  message: z.string().optional(),
  allowed: z.array(z.unknown()).optional(),
});

/** RFC 9457, `application/problem+json`. */
export const problemSchema = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.int().min(400).max(599),
  detail: z.string(),
  code: z.enum(ERROR_CODE_NAMES),
  details: z.array(detail),
  requestId: z.string(),
});

/** What was found out of a call whose outcome was unknown. */
const reconciliation = z.looseObject({
  by: z.enum(['probe', 'person', 'late_answer']),
  amendment: z.int(),
  person: z.string().nullable(),
  proposed: resolutionSchema.nullable().describe('What one person said and another one must confirm.'),
  evidence: z.string().describe('Words of a person or of the runtime.'),
  at: time,
});

export const callSummarySchema = z.looseObject({
  callId: callIdSchema,
  providerCallId: z.string().nullable(),
  tool: z.string().nullable(),
  status: z.enum(['accepted', ...OPEN_CALL_STATUSES, ...SETTLED_STATUSES, ...TAKEN_BACK_STATUSES]),
  errorCode: z.enum(ERROR_CODE_NAMES).nullable(),
  replayed: z.boolean(),
  effect: effect.nullable(),
  approvalId: z.string().nullable(),
  cancellation: cancellationSchema
    .nullable()
    .describe('What cancelling the run came to for this call; null = not cancelled, or not known yet.')
    .optional(),
  undoes: callIdSchema.optional().describe('Only of an undo: the call that it takes back.'),
  reconciliation: reconciliation.optional().describe('Only of a call whose outcome was unknown.'),
});

export const runViewSchema = z.looseObject({
  runId: runIdSchema,
  driver: driverSchema.nullable(),
  agent: z.string().nullable(),
  principal: z.string().nullable(),
  status: z.enum(['accepted', ...runStatusSchema.options]),
  outcome: runOutcomeSchema
    .nullable()
    .describe('As it is known now: an unknown outcome may be found out after the end.'),
  cause: z.looseObject({ code: z.enum(ERROR_CODE_NAMES), message: z.string() }).nullable(),
  answer: z.string().nullable().describe('Text of a model: untrusted.'),
  taskId: z.string().nullable(),
  labels: z.record(z.string(), z.string()),
  turns: z.int(),
  stage: z.string().nullish().describe('In which the last turn was asked for; of runs with stages.'),
  startedAt: time.nullable(),
  endedAt: time.nullable(),
  compensation: z.enum(COMPENSATION_STATUSES).optional().describe('How far what the run did was undone.'),
  compensationReport: z
    .looseObject({
      undone: z.array(callIdSchema),
      skipped: z.array(callIdSchema),
      remainder: z.array(z.looseObject({ callId: callIdSchema, reason: remainderReasonSchema })),
      kept: z.array(callIdSchema),
    })
    .nullish()
    .describe('Of the last way back: what is left to a person, and what was never to be undone.'),
  calls: z.array(callSummarySchema),
  effects: z
    .array(
      z.looseObject({
        callId: callIdSchema,
        tool: z.string().nullable(),
        effect,
        resourceIds: z.array(z.string()),
      }),
    )
    .describe('What was changed, from the journal.'),
});

const identified = {
  tool: z.string(),
  callId: callIdSchema,
  runId: runIdSchema,
  providerCallId: z.string().nullable(),
  requestId: z.string(),
  replayed: z.boolean(),
};
const succeeded = z.looseObject({
  ok: z.literal(true),
  data: z.unknown().describe('The sanitized result: untrusted.'),
  ...identified,
  evidence: z.looseObject({ resourceIds: z.array(z.string()), sources: z.array(z.unknown()) }),
  truncated: z.looseObject({ reason: z.string(), originalBytes: z.number() }).nullable(),
  fault: callErrorSchema.nullable().describe('A fault of the reply; the effect stands all the same.'),
});
const failed = z.looseObject({
  ok: z.literal(false),
  error: z.looseObject({ code: z.enum(ERROR_CODE_NAMES), message: z.string(), details: z.array(detail) }),
  status: z.enum(SETTLED_STATUSES),
  effect,
  approvalId: z.string().nullable(),
  retryable: z.boolean(),
  retryAfterMs: z.number().nullable(),
  requiresApproval: z.boolean(),
  userActionRequired: z.boolean(),
  humanTakeover: z.boolean(),
  changeArguments: z.boolean(),
  replacedBy: callIdSchema.nullable().describe('The call that a person wrote in its place.'),
  ...identified,
});
export const callResultSchema = z.discriminatedUnion('ok', [succeeded, failed]);

export const callViewSchema = callSummarySchema.extend({
  runId: runIdSchema,
  principal: z.string().nullable(),
  contractDigest: digestSchema.nullable(),
  decision: z.enum(['allow', 'ask', 'deny']).nullable(),
  attempts: z.int(),
  durationMs: z.number().nullable(),
  result: callResultSchema.nullable(),
});
export const callHistorySchema = z.looseObject({
  callId: callIdSchema,
  runId: runIdSchema,
  status: callSummarySchema.shape.status,
  items: z
    .array(z.looseObject({ at: time, what: z.enum(HISTORY_WORDS) }))
    .describe('In order. Numbers, codes, names and digests; no arguments, no results, no words of people.'),
  truncated: z.boolean().describe('There is more than was looked at: see the audit.'),
});
/** Lists hold no results: read the call for its own. */
export const listedCallSchema = callViewSchema.omit({ result: true });

export const unknownSchema = listedCallSchema.extend({
  since: time.nullable().describe('When the outcome became unknown.'),
  ageMs: z.int(),
  needsHuman: z.boolean().describe('Nobody but a person can find it out.'),
});

export const acceptedRunSchema = z.looseObject({ runId: runIdSchema, status: accepted });
export const acceptedCallSchema = z.looseObject({ runId: runIdSchema, callId: callIdSchema, status: accepted });
export const proposedCallsSchema = z.looseObject({
  runId: runIdSchema,
  calls: z.array(z.union([callResultSchema, z.looseObject({ callId: callIdSchema, status: accepted })])),
});

export const approvalViewSchema = z.looseObject({
  approvalId: z.string(),
  callId: callIdSchema,
  runId: runIdSchema,
  status: z.enum(APPROVAL_STATUSES),
  digest: digestSchema.describe('What a decision must name.'),
  tool: z.string(),
  contractDigest: digestSchema,
  argumentsDigest: digestSchema,
  policyDigest: digestSchema,
  arguments: z.record(z.string(), z.unknown()).describe('As they will run: untrusted.'),
  origins: z.record(z.string(), z.string()),
  resources: z.array(z.string()),
  facts: z
    .looseObject({ callId: callIdSchema, values: z.looseObject({ resourceVersion: z.string() }) })
    .optional()
    .describe(
      'What a read of the run said of the resource; the call runs only while its version is this one. Untrusted.',
    ),
  risk: z.string(),
  sideEffects: z.string(),
  requester: z.looseObject({ id: z.string(), kind: z.string(), roles: z.array(z.string()) }),
  approverRoles: z.array(z.string()),
  forbidSelf: z.boolean(),
  quorum: z.int().describe('How many different people must approve.'),
  approvedBy: z.array(z.string()).describe('Who has approved so far, where several must.'),
  supersededWhy: z.string().nullable(),
  replacedBy: z.string().nullable().describe('The approval that is asked for instead.'),
  replacedByCall: callIdSchema.nullable().describe('The call that a person wrote instead.'),
  edited: z
    .looseObject({ callId: callIdSchema, by: z.string() })
    .optional()
    .describe('A person wrote the arguments, in the place of this call.'),
  reasons: z.array(z.string()),
  expiresAt: time,
  requestedAt: time,
  decidedBy: z.string().nullable(),
  decidedAt: time.nullable(),
  reason: z.string().nullable(),
});

export const standingViewSchema = z.looseObject({
  standingId: z.string(),
  status: z.enum(['active', 'used_up', 'expired', 'revoked']),
  tool: z.string(),
  contractDigest: digestSchema,
  principal: z.string().nullable(),
  resources: z.array(z.string()).nullable(),
  maxAmount: z.int().nullable(),
  totalAmount: z.int().nullable(),
  uses: z.int().describe('At most so many.'),
  used: z.int(),
  amountUsed: z.int(),
  expiresAt: time,
  grantedBy: z.string(),
  grantedAt: time,
  reason: z.string().nullable(),
  revokedBy: z.string().nullable(),
});

export const page = <S extends z.ZodType>(item: S) =>
  z.looseObject({
    items: z.array(item),
    next: z.string().nullable().describe('Give it as `after` for the next page; null = no more.'),
  });

/** CloudEvents 1.0, as on the audit topic. */
export const auditRecordSchema = z.looseObject({ specversion: z.string(), id: z.string(), type: z.string() });
/** Signed heads of the tenant's ledgers; `jws` alone proves anything. */
export const checkpointSchema = z.looseObject({
  tenant: z.string(),
  size: z.int(),
  ledgers: z.array(z.looseObject({ ledger: z.string(), size: z.int(), head: z.string(), root: z.string() })),
  kid: z.string(),
  time: z.string(),
  jws: z.string(),
});
/** Hashes that lead from what was asked for to a head in the checkpoint (RFC 6962). */
export const auditProofSchema = z.looseObject({
  kind: z.enum(['inclusion', 'consistency']),
  ledger: z.string(),
  size: z.int(),
  path: z.array(z.string()),
  checkpoint: z.string(),
});
export const auditSchemasSchema = z.looseObject({ schemas: z.record(z.string(), z.looseObject({})) });
export const keySetSchema = z.looseObject({ keys: z.array(z.looseObject({ kty: z.string() })) });
export const versionSchema = z.looseObject({ name: z.string(), version: z.string(), api: z.string() });
export const openApiSchema = z.looseObject({ openapi: z.string() });
