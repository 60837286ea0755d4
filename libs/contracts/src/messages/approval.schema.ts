import { z } from 'zod';
import { digestSchema, principalSchema } from '../envelope.schema.ts';

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
  risk: z.string(),
  sideEffects: z.string(),
  requester: principalSchema,
  approverRoles: z.array(z.string()),
  forbidSelf: z.boolean(),
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
  ]),
  message: z.string(),
});
export type ApprovalRefused = z.infer<typeof approvalRefusedSchema>;

export const approvalExpiredSchema = z.object({ approvalId: z.string() });
export type ApprovalExpired = z.infer<typeof approvalExpiredSchema>;
