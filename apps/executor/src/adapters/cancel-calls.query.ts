import type { Sql } from '#persistence';

export interface CancelRequest {
  readonly callId: string;
  readonly tenant: string;
  /** Tell a running tool to stop. */
  readonly stop: boolean;
}

export interface Cancelled {
  readonly callId: string;
  /** `cancelled`: it has not begun and never will. `intended`: too late for that. `foreign`: not this tenant's or pool's. */
  readonly answer: 'cancelled' | 'intended' | 'settled' | 'foreign';
  /** The stored CallGranted of a call that waited: this pool is to settle it. */
  readonly message: Buffer | null;
  readonly settlement: string | null;
}

/** One statement, one commit; each callId at most once. */
export function cancelCalls(sql: Sql, pool: string, requests: readonly CancelRequest[]): Promise<Cancelled[]> {
  const sorted = [...requests].sort((a, b) => (a.callId < b.callId ? -1 : 1));
  return sql.query<Cancelled>({
    name: 'journal-cancel',
    text: `select call_id as "callId", answer, message, settlement from journal_cancel($1, $2, $3, $4)`,
    values: [pool, sorted.map((r) => r.callId), sorted.map((r) => r.tenant), sorted.map((r) => r.stop)],
  });
}
