import type { Principal } from '#contracts';
import type { Sql, Tx } from '#persistence';

export interface NewVote {
  readonly approvalId: string;
  readonly principal: Principal;
  readonly commandId: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Who approved so far, in the order of voting; the caller holds the approvals' rows. */
export async function votersOf(sql: Sql, approvalIds: readonly string[]): Promise<Map<string, Principal[]>> {
  const voters = new Map<string, Principal[]>();
  if (approvalIds.length === 0) return voters;
  const rows = await sql.query<{ approval_id: string; principal: string }>({
    name: 'approval-voters',
    text: `select approval_id, principal from approval_vote where approval_id = any($1::text[]) order by voted_at, principal_id`,
    values: [approvalIds],
  });
  for (const row of rows) {
    const known = voters.get(row.approval_id) ?? [];
    voters.set(row.approval_id, [...known, JSON.parse(row.principal) as Principal]);
  }
  return voters;
}

/** @throws a unique violation when a person would count twice (A1) */
export async function insertVotes(tx: Tx, votes: readonly NewVote[]): Promise<void> {
  if (votes.length === 0) return;
  await tx.change({
    name: 'insert-approval-votes',
    text: `insert into approval_vote (approval_id, principal_id, principal, command_id, voted_at)
           select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])`,
    values: [
      votes.map((v) => v.approvalId),
      votes.map((v) => v.principal.id),
      votes.map((v) => JSON.stringify(v.principal)),
      votes.map((v) => v.commandId),
      votes.map((v) => v.at),
    ],
  });
}
