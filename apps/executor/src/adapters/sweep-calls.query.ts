import type { Sql } from '#persistence';

export interface LapsedCall {
  readonly callId: string;
  readonly state: 'queued' | 'intended';
  readonly mode: 'act' | 'replay' | 'join' | 'conflict';
  readonly epoch: number;
  /** Milliseconds. */
  readonly leaseMs: number;
  /** Owners that may have begun to act, this one included. */
  readonly attempts: number;
  readonly repeat: 'natural' | 'key' | 'probe' | 'none';
  /** The stored CallGranted. */
  readonly message: Buffer;
  readonly fences: Readonly<Record<string, number>> | null;
  /** `replay`: the record of the key's earlier call. */
  readonly settlement: string | null;
  /** Milliseconds since the call was queued. */
  readonly waitedMs: number | null;
  /** It was cancelled after its intent. */
  readonly stopAsked: boolean;
  /** How often its key was taken back before it acted; null where it does not act. */
  readonly takenBack: number | null;
}

/** Takes over calls of the pool whose lease has ended; they are this owner's afterwards, under a new epoch. */
export function sweepCalls(sql: Sql, pool: string, owner: string, limit: number): Promise<LapsedCall[]> {
  return sql.query<LapsedCall>({
    name: 'journal-sweep',
    text: `select call_id as "callId", state, mode, lease_epoch as epoch, lease_ms as "leaseMs", attempts, repeat, message, fences, settlement,
                  waited_ms as "waitedMs", stop_asked as "stopAsked", taken_back as "takenBack"
             from journal_sweep($1, $2, $3)`,
    values: [pool, owner, limit],
  });
}
