import type { Sql } from '#persistence';

export interface LeaseRef {
  readonly callId: string;
  readonly epoch: number;
}

/** Prolongs leases by their own length; answers the calls that are still this owner's, and whether they are to stop. */
export async function renewLeases(sql: Sql, owner: string, leases: readonly LeaseRef[]): Promise<Map<string, boolean>> {
  const rows = await sql.query<{ call_id: string; stop_asked: boolean }>({
    name: 'renew-leases',
    text: 'select call_id, stop_asked from journal_renew($1, $2::text[], $3::int[])',
    values: [owner, leases.map((l) => l.callId), leases.map((l) => l.epoch)],
  });
  return new Map(rows.map((row) => [row.call_id, row.stop_asked]));
}

/** Ends the leases of calls that wait and never acted, so that another executor takes them at once. */
export async function giveUpLeases(sql: Sql, owner: string, leases: readonly LeaseRef[]): Promise<void> {
  await sql.change({
    text: 'select journal_give_up($1, $2::text[], $3::int[])',
    values: [owner, leases.map((l) => l.callId), leases.map((l) => l.epoch)],
  });
}

/** A queued call whose grant can no longer be used goes back to policy. False: it is no longer this owner's. */
export async function returnQueuedCall(sql: Sql, owner: string, lease: LeaseRef): Promise<boolean> {
  const rows = await sql.query<{ changed: boolean }>({
    name: 'return-queued-call',
    text: 'select journal_return($1, $2, $3) as changed',
    values: [owner, lease.callId, lease.epoch],
  });
  return rows[0]!.changed;
}
