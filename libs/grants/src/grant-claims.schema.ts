import { z } from 'zod';
import { callIdSchema, digestSchema, effectClassSchema, runIdSchema, tenantSchema } from '#contracts';

export const GRANT_ISSUER = 'countersign/policy';
export const GRANT_TYPE = 'cs-grant+jwt';
/** One algorithm: what a token may choose, a forger may choose. */
export const GRANT_ALGORITHM = 'EdDSA';
/** Longest life of a grant, in seconds; waiting longer means a new judgement. */
export const MAX_GRANT_SECONDS = 60;

/** What a grant binds (G3): one exact call, for one pool, once, for a short time. */
export const grantClaimsSchema = z.object({
  /** Names the single use; `grantId(callId, decisionNo)`. */
  jti: z.string().min(1).max(128),
  tenant: tenantSchema,
  runId: runIdSchema,
  callId: callIdSchema,
  /** Id of the principal on whose behalf the call runs. */
  principal: z.string().min(1).max(128),
  /** `ns.name@version`. */
  tool: z.string().min(1),
  contractDigest: digestSchema,
  argsDigest: digestSchema,
  resources: z.array(z.string()),
  effectClass: effectClassSchema,
  operationKey: z.string().min(1).max(1024),
  /** Of an undo: the call that it takes back. */
  undoes: callIdSchema.optional(),
  /** Of the facts that the call was judged by. */
  factsDigest: digestSchema.optional(),
  policyDigest: digestSchema,
  decisionId: z.string().min(1).max(64),
  decisionNo: z.int().min(1),
  approvalId: z.string().optional(),
  /** Ids of the principals who approved. */
  approvers: z.array(z.string().min(1).max(128)).min(1).max(10).optional(),
  /** The standing grant whose use this is. */
  standingId: z.string().optional(),
  journalEpoch: z.int().min(0),
  /** The pool. */
  aud: z.string().min(1).max(64),
  /** Seconds since the epoch. */
  iat: z.int().min(0),
  /** Seconds since the epoch; judged by the journal database's clock, never by a process. */
  exp: z.int().min(0),
});
export type GrantClaims = z.infer<typeof grantClaimsSchema>;

/** The jti of a call's decision: a repeat of the same decision is the same grant. */
export const grantId = (callId: string, decisionNo: number): string => `${callId}.${decisionNo}`;
