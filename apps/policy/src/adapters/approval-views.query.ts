import type { ApprovalRequested, Principal, SupersededWhy } from '#contracts';
import type { Sql } from '#persistence';
import type { ApprovalStatus } from '../domain/approval.ts';
import { editedCallId } from '../domain/edit.ts';
import { APPROVAL_COLUMNS, approvalOf, type ApprovalRow } from './approval.repository.ts';

/** What people and the API may see of an approval. Times are RFC 3339. */
export interface ApprovalView extends Omit<ApprovalRequested, 'decisionNo' | 'argumentsDigest'> {
  readonly callId: string;
  readonly runId: string;
  readonly tenant: string;
  readonly status: ApprovalStatus;
  readonly argumentsDigest: string;
  readonly requestedAt: string;
  readonly decidedBy: string | null;
  readonly decidedAt: string | null;
  readonly reason: string | null;
  /** Who has approved so far, where several must. */
  readonly approvedBy: readonly string[];
  readonly supersededWhy: SupersededWhy | null;
  /** The approval that is asked for instead. */
  readonly replacedBy: string | null;
  /** The call that a person wrote instead. */
  readonly replacedByCall: string | null;
}

export type ViewRow = ApprovalRow & {
  decided_by: string | null;
  decided_at: number | null;
  reason: string | null;
  superseded_why: SupersededWhy | null;
  replaced_by: string | null;
  approved_by: string[];
};
export const VIEW_COLUMNS = `${APPROVAL_COLUMNS}, decided_by, decided_at, reason, superseded_why, replaced_by,
  array(select principal_id from approval_vote v where v.approval_id = approval.approval_id order by voted_at, principal_id) as approved_by`;

export function viewOf(row: ViewRow): ApprovalView {
  const { approvalId, callId, runId, tenant, status, request, requestedAt } = approvalOf(row);
  const { decisionNo: _no, ...shown } = request;
  return {
    ...shown,
    approvalId,
    callId,
    runId,
    tenant,
    status,
    requestedAt: new Date(requestedAt).toISOString(),
    decidedBy: row.decided_by === null ? null : (JSON.parse(row.decided_by) as Principal).id,
    decidedAt: row.decided_at === null ? null : new Date(row.decided_at).toISOString(),
    reason: row.reason,
    approvedBy: row.approved_by,
    supersededWhy: row.superseded_why,
    replacedBy: row.replaced_by,
    replacedByCall: row.superseded_why === 'edited' ? editedCallId(runId, approvalId) : null,
  };
}

/** null when there is none, or it is another tenant's (G12). */
export async function findApproval(sql: Sql, tenant: string, approvalId: string): Promise<ApprovalView | null> {
  const rows = await sql.query<ViewRow>({
    name: 'find-approval',
    text: `select ${VIEW_COLUMNS} from approval where tenant = $1 and approval_id = $2`,
    values: [tenant, approvalId],
  });
  return rows[0] ? viewOf(rows[0]) : null;
}

export interface ApprovalsAsked {
  readonly tenant: string;
  readonly status?: ApprovalStatus;
  /** Default 50, at most 200. */
  readonly limit?: number;
  /** The last approvalId of the page before. */
  readonly after?: string;
}

export interface ApprovalsPage {
  readonly items: readonly ApprovalView[];
  /** Give it as `after` for the next page; null = no more. */
  readonly next: string | null;
}

/** A page of a tenant's approvals, oldest first. */
export async function listApprovals(
  sql: Sql,
  { tenant, status, limit: wanted, after }: ApprovalsAsked,
): Promise<ApprovalsPage> {
  const limit = Math.min(wanted ?? 50, 200);
  const rows = await sql.query<ViewRow>({
    name: status === 'pending' ? 'list-pending-approvals' : 'list-approvals',
    text: `select ${VIEW_COLUMNS} from approval
            where tenant = $1 and ${status === 'pending' ? `status = 'pending' and $2::text is not null` : '($2::text is null or status = $2)'}
              and ($3::text is null or (requested_at, approval_id) > (select requested_at, approval_id from approval where tenant = $1 and approval_id = $3))
            order by requested_at, approval_id limit $4`,
    values: [tenant, status ?? null, after ?? null, limit],
  });
  return { items: rows.map(viewOf), next: rows.length === limit ? rows.at(-1)!.approval_id : null };
}
