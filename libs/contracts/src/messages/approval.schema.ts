import { z } from 'zod';
import { callIdSchema, digestSchema, principalSchema } from '../envelope.schema.ts';
import { errorDetailSchema } from '../result.schema.ts';
import { callFactsSchema } from './facts.schema.ts';

/** A call that a person wrote in the place of one that was asked about. */
export const editedSchema = z.object({
  /** The call that was asked about. */
  callId: callIdSchema,
  /** Id of the principal who wrote the arguments. */
  by: z.string(),
});
export type Edited = z.infer<typeof editedSchema>;

export const approvalRequestedSchema = z.object({
  approvalId: z.string(),
  decisionNo: z.int().min(1),
  /** What the approver's decision must name: binds everything below. */
  digest: digestSchema,
  tool: z.string(),
  contractDigest: digestSchema,
  argumentsDigest: digestSchema,
  policyDigest: digestSchema,
  /** As they will run. */
  arguments: z.record(z.string(), z.unknown()),
  origins: z.record(z.string(), z.string()),
  resources: z.array(z.string()),
  /** What the resource was when it was judged; the call runs only while its version is this one. */
  facts: callFactsSchema.optional(),
  risk: z.string(),
  sideEffects: z.string(),
  requester: principalSchema,
  edited: editedSchema.optional(),
  approverRoles: z.array(z.string()),
  forbidSelf: z.boolean(),
  /** How many different people must approve. */
  quorum: z.int().min(1).default(1),
  reasons: z.array(z.string()),
  /** RFC 3339. */
  expiresAt: z.string(),
});
export type ApprovalRequested = z.infer<typeof approvalRequestedSchema>;

export const decideApprovalSchema = z.object({
  commandId: z.string().min(1).max(64),
  approvalId: z.string(),
  digest: digestSchema,
  decision: z.enum(['approved', 'rejected']),
  principal: principalSchema,
  reason: z.string().max(2000).nullable(),
});
export type DecideApproval = z.infer<typeof decideApprovalSchema>;

export const approvalDecidedSchema = z.object({
  commandId: z.string(),
  approvalId: z.string(),
  digest: digestSchema,
  decision: z.enum(['approved', 'rejected']),
  approver: principalSchema,
  reason: z.string().nullable(),
});
export type ApprovalDecided = z.infer<typeof approvalDecidedSchema>;

/** An approver proposes other arguments: nothing is approved by it, the call is asked about anew. */
export const editApprovalSchema = z.object({
  commandId: z.string().min(1).max(64),
  approvalId: z.string(),
  digest: digestSchema,
  arguments: z.record(z.string(), z.unknown()),
  principal: principalSchema,
  reason: z.string().max(2000).nullable(),
});
export type EditApproval = z.infer<typeof editApprovalSchema>;

/** The call is settled as denied; the edited one goes on in its place. */
export const approvalEditedSchema = z.object({
  commandId: z.string(),
  approvalId: z.string(),
  digest: digestSchema,
  editor: principalSchema,
  reason: z.string().nullable(),
  /** callId of the edited call. */
  replacedBy: callIdSchema,
  /** Normalized. */
  arguments: z.record(z.string(), z.unknown()),
  argumentsDigest: digestSchema,
});
export type ApprovalEdited = z.infer<typeof approvalEditedSchema>;

/** The requester, or who keeps the run, takes the question back: nobody need decide any more. */
export const withdrawApprovalSchema = z.object({
  commandId: z.string().min(1).max(64),
  approvalId: z.string(),
  principal: principalSchema,
  reason: z.string().max(2000).nullable(),
});
export type WithdrawApproval = z.infer<typeof withdrawApprovalSchema>;

export const approvalWithdrawnSchema = z.object({
  commandId: z.string(),
  approvalId: z.string(),
  by: principalSchema,
  reason: z.string().nullable(),
});
export type ApprovalWithdrawn = z.infer<typeof approvalWithdrawnSchema>;

/** One of several approvals that are needed; the last one is an ApprovalDecided. */
export const approvalCountedSchema = z.object({
  commandId: z.string(),
  approvalId: z.string(),
  digest: digestSchema,
  approver: principalSchema,
  /** So many have approved, this one among them. */
  count: z.int().min(1),
  quorum: z.int().min(2),
});
export type ApprovalCounted = z.infer<typeof approvalCountedSchema>;

export const supersededWhySchema = z.enum(['policy_changed', 'policy_denies', 'policy_allows', 'edited']);
export type SupersededWhy = z.infer<typeof supersededWhySchema>;

/** What was asked is no longer what would run: no decision on it counts any more. */
export const approvalSupersededSchema = z.object({
  approvalId: z.string(),
  why: supersededWhySchema,
  /** The approval that is asked for instead; null = none is. */
  replacedBy: z.string().nullable(),
});
export type ApprovalSuperseded = z.infer<typeof approvalSupersededSchema>;

/** A decision that does not count: stale digest, own request, missing role, already decided. */
export const approvalRefusedSchema = z.object({
  commandId: z.string(),
  approvalId: z.string(),
  code: z.enum([
    'APPROVAL_MISMATCH',
    'PERMISSION_DENIED',
    'APPROVAL_EXPIRED',
    'APPROVAL_DENIED',
    'NOT_FOUND',
    'IDEMPOTENCY_CONFLICT',
    'INVALID_ARGS',
  ]),
  message: z.string(),
  details: z.array(errorDetailSchema).optional(),
});
export type ApprovalRefused = z.infer<typeof approvalRefusedSchema>;

export const approvalExpiredSchema = z.object({ approvalId: z.string() });
export type ApprovalExpired = z.infer<typeof approvalExpiredSchema>;
