import type { CallProposed } from '#contracts';
import type { ErrorCode } from '#kernel';

/**
 * The decision about one call. Owns the right to settle the call from the commit of its first row until the grant commits.
 *
 * | from            | by                                   | to                                             |
 * |-----------------|--------------------------------------|------------------------------------------------|
 * | –               | CallProposed                         | granted · asked · refused (row 1)              |
 * | asked           | DecideApproval approved, quorum met  | granted (same row)                             |
 * | asked           | DecideApproval rejected              | refused denied APPROVAL_DENIED (same row)      |
 * | asked           | EditApproval                         | refused denied APPROVAL_DENIED, replaced (same row) |
 * | asked           | expiry                               | refused expired APPROVAL_EXPIRED (same row)    |
 * | asked           | WithdrawCall, WithdrawApproval       | refused cancelled CANCELLED (same row)         |
 * | asked           | another policy is in force           | superseded (same row) + row n+1, judged again  |
 * | asked           | its tenant is suspended              | superseded (same row) + row n+1: refused denied |
 * | granted n       | GrantReturned n                      | row n+1: granted · asked · refused             |
 * | granted n, over | CallProposed again, still allowed    | row n+1: granted                               |
 *
 * P1 (callId, decisionNo) is the primary key; the highest number is the call's decision; the first commit of a number wins.
 * P2 a repeated message decides nothing: it sends what the rows say once more, under the same message ids.
 * P3 after a grant committed, policy refuses only when the pool gave that very grant back; a grant that ran out unseen
 *    is replaced or sent again, never refused: the pool may be executing under it.
 * P4 rows change by conditional updates alone (`asked` → one of its ends, in the transaction that moves its approval).
 * P5 a call that a person was asked about is no longer bound by the run's deadline: waiting for people costs nothing.
 * P6 what an approval bound (contract, arguments, resources, key, policy, requester, expiry, who approved) is looked at
 *    again at each grant, and no grant outlives its approval: the journal's clock judges both in the intent.
 *    The approver's role is the one that the credential showed with the decision: there is no directory to ask later.
 *    Facts, with the version of the resource, are bound by it too: that they are still true is judged by the source system,
 *    which gets the version with the write.
 * P7 expiry is judged by the database's clock.
 */
export type DecisionState =
  | {
      readonly kind: 'granted';
      readonly token: string;
      /** Epoch seconds. */ readonly expiresAt: number;
      readonly approval: UsedApproval | null;
    }
  | { readonly kind: 'asked'; readonly approvalId: string }
  | {
      readonly kind: 'refused';
      readonly status: 'denied' | 'expired' | 'cancelled';
      readonly code: ErrorCode;
      readonly message: string;
      readonly approvalId: string | null;
      /** The call that a person wrote in its place. */
      readonly replacedBy?: string;
    }
  | { readonly kind: 'superseded'; readonly approvalId: string };

export interface UsedApproval {
  readonly approvalId: string;
  /** Principal ids, the last one completed the quorum. */
  readonly approvers: readonly string[];
}

export interface Decision {
  readonly callId: string;
  readonly decisionNo: number;
  readonly tenant: string;
  readonly runId: string;
  readonly state: DecisionState;
  readonly policyDigest: string;
  readonly reasons: readonly string[];
  /** Epoch milliseconds. */
  readonly decidedAt: number;
  /** How many grants of this call came back unused. */
  readonly returns: number;
}

/** The proposal with what its envelope said. */
export interface Proposal {
  readonly callId: string;
  readonly tenant: string;
  readonly runId: string;
  readonly messageId: string;
  readonly correlationId: string | undefined;
  readonly call: CallProposed;
}

/** A grant that comes back more often than this will not find its use. */
export const MAX_RETURNS = 20;
/** From this many on, a grant that the pool cannot accept (not one that merely ran out) waits for the next re-drive. */
export const EAGER_RETURNS = 1;
