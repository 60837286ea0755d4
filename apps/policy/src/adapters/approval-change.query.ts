import type { Sql } from '#persistence';
import { boundDifference } from '../domain/approval.ts';
import { viewOf, VIEW_COLUMNS, type ApprovalView, type ViewRow } from './approval-views.query.ts';

/** Why a digest no longer fits: what the person saw, beside what is asked now. */
export interface ApprovalChange {
  /** The latest request about the call. */
  readonly current: ApprovalView;
  /** Bound fields that differ; null = the digest names no request about this call. */
  readonly changed: readonly string[] | null;
}

/** null when there is no such approval, or it is another tenant's (G12). */
export async function findApprovalChange(
  sql: Sql,
  tenant: string,
  approvalId: string,
  digest: string,
): Promise<ApprovalChange | null> {
  const rows = await sql.query<ViewRow>({
    name: 'find-approval-change',
    text: `select ${VIEW_COLUMNS} from approval
            where tenant = $1 and call_id = (select call_id from approval where tenant = $1 and approval_id = $2)
            order by decision_no desc`,
    values: [tenant, approvalId],
  });
  const all = rows.map(viewOf);
  const current = all[0];
  if (!current) return null;
  const seen = all.find((view) => view.digest === digest);
  return { current, changed: seen ? boundDifference({ ...seen, decisionNo: 1 }, { ...current, decisionNo: 1 }) : null };
}
