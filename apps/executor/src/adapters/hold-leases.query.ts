import type { Sql } from '#persistence';

export interface LeaseRef {
  readonly callId: string;
  readonly epoch: number;
}

/** Prolongs leases by their own length; answers the calls that are still this owner's, and whether they are to stop. */
export async function renewLeases(sql: Sql, owner: string, leases: readonly LeaseRef[]): Promise<Map<string, boolean>> {
  const rows = await sql.query<{ call_id: string; stop_asked: boolean }>({
    name: 'renew-leases',
    text: `update call c set lease_until = now() + c.lease_ms * interval '1 millisecond'
             from unnest($1::text[], $2::int[]) as i (call_id, epoch)
            where c.call_id = i.call_id and c.lease_epoch = i.epoch and c.lease_owner = $3
           returning c.call_id, c.stop_asked`,
    values: [leases.map((l) => l.callId), leases.map((l) => l.epoch), owner],
  });
  return new Map(rows.map((row) => [row.call_id, row.stop_asked]));
}

/** Ends the leases of calls that wait and never acted, so that another executor takes them at once. */
export function giveUpLeases(sql: Sql, owner: string, leases: readonly LeaseRef[]): Promise<number> {
  return sql.change({
    text: `update call c set lease_until = now()
             from unnest($1::text[], $2::int[]) as i (call_id, epoch)
            where c.call_id = i.call_id and c.lease_epoch = i.epoch and c.lease_owner = $3 and c.state = 'queued'`,
    values: [leases.map((l) => l.callId), leases.map((l) => l.epoch), owner],
  });
}

/** A queued call whose grant can no longer be used goes back to policy. False: it is no longer this owner's. */
export async function returnQueuedCall(sql: Sql, owner: string, lease: LeaseRef): Promise<boolean> {
  const changed = await sql.change({
    name: 'return-queued-call',
    text: `update call set state = 'returned', lease_owner = null, lease_until = null
            where call_id = $1 and lease_epoch = $2 and lease_owner = $3 and state = 'queued'`,
    values: [lease.callId, lease.epoch, owner],
  });
  return changed === 1;
}
