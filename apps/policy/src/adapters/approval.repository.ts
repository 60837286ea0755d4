import type { ApprovalRequested, Principal, SupersededWhy } from '#contracts';
import type { Sql, Tx } from '#persistence';
import type { Approval, ApprovalStatus } from '../domain/approval.ts';

export interface NewApproval {
  readonly approval: Approval;
  readonly pool: string;
}

/** An approval with the answer of the database's clock. */
export interface StoredApproval {
  readonly approval: Approval;
  readonly overdue: boolean;
}

export interface ApprovalRow {
  approval_id: string;
  tenant: string;
  call_id: string;
  run_id: string;
  status: ApprovalStatus;
  request: string;
  requested_at: number;
  overdue: boolean;
}

export const APPROVAL_COLUMNS = `approval_id, tenant, call_id, run_id, status, request, requested_at, expires_at <= now() as overdue`;

export function approvalOf(row: ApprovalRow): Approval {
  return {
    approvalId: row.approval_id,
    tenant: row.tenant,
    callId: row.call_id,
    runId: row.run_id,
    status: row.status,
    request: JSON.parse(row.request) as ApprovalRequested, // our own text: a repeat sends the same bytes
    requestedAt: row.requested_at,
  };
}

export async function insertApprovals(tx: Tx, fresh: readonly NewApproval[]): Promise<void> {
  if (fresh.length === 0) return;
  const rows = fresh.map(({ approval }) => approval);
  await tx.change({
    name: 'insert-approvals',
    text: `insert into approval (approval_id, tenant, call_id, decision_no, run_id, pool, status, request, requested_at, expires_at)
           select * from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[], $10::timestamptz[])`,
    values: [
      rows.map((a) => a.approvalId),
      rows.map((a) => a.tenant),
      rows.map((a) => a.callId),
      rows.map((a) => a.request.decisionNo),
      rows.map((a) => a.runId),
      fresh.map((a) => a.pool),
      rows.map((a) => a.status),
      rows.map((a) => JSON.stringify(a.request)),
      rows.map((a) => a.requestedAt),
      rows.map((a) => a.request.expiresAt),
    ],
  });
}

/** Those that exist; `lock` holds them, in the order of their ids, until the transaction ends. */
export async function approvalsById(
  sql: Sql,
  approvalIds: readonly string[],
  lock = false,
): Promise<Map<string, StoredApproval>> {
  if (approvalIds.length === 0) return new Map();
  const rows = await sql.query<ApprovalRow>({
    name: lock ? 'lock-approvals' : 'approvals-by-id',
    text: `select ${APPROVAL_COLUMNS} from approval where approval_id = any($1::text[]) order by approval_id ${lock ? 'for update' : ''}`,
    values: [[...new Set(approvalIds)]],
  });
  return new Map(rows.map((row) => [row.approval_id, { approval: approvalOf(row), overdue: row.overdue }]));
}

/** Waiting approvals whose time is over by the database's clock, held for this transaction; another replica's are left to it. */
export async function lockDueApprovals(tx: Tx, limit: number): Promise<Approval[]> {
  const rows = await tx.query<ApprovalRow>({
    name: 'lock-due-approvals',
    text: `select ${APPROVAL_COLUMNS} from approval where status = 'pending' and expires_at <= now()
            order by expires_at limit $1 for update skip locked`,
    values: [limit],
  });
  return rows.map(approvalOf);
}

/** What waits for a person in these tenants. */
export async function pendingOf(sql: Sql, tenants: readonly string[], limit: number): Promise<Approval[]> {
  const rows = await sql.query<ApprovalRow>({
    name: 'pending-of-tenants',
    text: `select ${APPROVAL_COLUMNS} from approval
            where status = 'pending' and expires_at > now() and tenant = any($1)
            order by approval_id limit $2`,
    values: [tenants, limit],
  });
  return rows.map(approvalOf);
}

/** Waiting approvals that another policy asked for before then (epoch milliseconds), oldest ids first. */
export async function pendingUnderOther(
  sql: Sql,
  policyDigest: string,
  before: number,
  limit: number,
): Promise<Approval[]> {
  const rows = await sql.query<ApprovalRow>({
    name: 'pending-under-other-policy',
    text: `select ${APPROVAL_COLUMNS} from approval
            where status = 'pending' and expires_at > now() and requested_at < $3
              and exists (select from decision d
                           where d.call_id = approval.call_id and d.decision_no = approval.decision_no
                             and d.state = 'asked' and d.policy_digest <> $1)
            order by approval_id limit $2`,
    values: [policyDigest, limit, before],
  });
  return rows.map(approvalOf);
}

export interface ApprovalEnd {
  readonly approvalId: string;
  readonly status: 'approved' | 'rejected' | 'expired' | 'withdrawn' | 'superseded';
  readonly commandId: string | null;
  readonly decidedBy: Principal | null;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly reason: string | null;
  /** Of one that was superseded. */
  readonly why?: SupersededWhy;
  readonly replacedBy?: string | null;
}

/** pending → its end; approved → superseded, expired. The caller holds the rows, or owns the decision that supersedes. */
export async function endApprovals(tx: Tx, ended: readonly ApprovalEnd[]): Promise<void> {
  if (ended.length === 0) return;
  await tx.change({
    name: 'end-approvals',
    text: `update approval a
              set status = e.status,
                  command_id = coalesce(e.command_id, a.command_id), decided_by = coalesce(e.decided_by, a.decided_by),
                  decided_at = coalesce(a.decided_at, e.at), reason = coalesce(e.reason, a.reason),
                  superseded_why = e.why, replaced_by = e.replaced_by
             from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[])
                  as e (approval_id, status, command_id, decided_by, at, reason, why, replaced_by)
            where a.approval_id = e.approval_id
              and (a.status = 'pending' or (a.status = 'approved' and e.status in ('superseded', 'expired')))`,
    values: [
      ended.map((e) => e.approvalId),
      ended.map((e) => e.status),
      ended.map((e) => e.commandId),
      ended.map((e) => (e.decidedBy ? JSON.stringify(e.decidedBy) : null)),
      ended.map((e) => e.at),
      ended.map((e) => e.reason),
      ended.map((e) => e.why ?? null),
      ended.map((e) => e.replacedBy ?? null),
    ],
  });
}

export interface ApprovalUse {
  readonly approvalId: string;
  readonly tenant: string;
  readonly callId: string;
  /** The pool whose topic told it. */
  readonly pool: string;
}

/** approved → consumed, told by the pool that spent it; another pool's or tenant's word changes nothing (G12). */
export async function consumeApprovals(sql: Sql, uses: readonly ApprovalUse[]): Promise<number> {
  if (uses.length === 0) return 0;
  return sql.change({
    name: 'consume-approvals',
    text: `update approval a set status = 'consumed'
             from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as u (approval_id, tenant, call_id, pool)
            where a.approval_id = u.approval_id and a.tenant = u.tenant and a.call_id = u.call_id and a.pool = u.pool and a.status = 'approved'`,
    values: [
      uses.map((u) => u.approvalId),
      uses.map((u) => u.tenant),
      uses.map((u) => u.callId),
      uses.map((u) => u.pool),
    ],
  });
}
