import type { Sql } from '#persistence';

export type ReconciliationState = 'open' | 'needs_human' | 'succeeded' | 'failed' | 'partially_applied';

export interface ReconciliationRow {
  readonly callId: string;
  readonly ownerId: string;
  readonly tenant: string;
  readonly pool: string;
  readonly state: ReconciliationState;
  readonly amendment: number;
  readonly epoch: number;
  readonly looks: number;
  /** Milliseconds since the outcome became unknown, by the database's clock. */
  readonly ageMs: number;
  readonly said: Buffer | null;
  /** The stored CallGranted. */
  readonly message: Buffer;
  /** How often the call's key was taken back before it acted; null where it is not asked, or not the key's last call. */
  readonly takenBack: number | null;
}

const COLUMNS = `call_id as "callId", owner_id as "ownerId", tenant, pool, state, amendment, epoch, looks, age_ms as "ageMs", said, message, taken_back as "takenBack"`;

/** Takes looks that are due: nobody else takes them for `holdMs`. */
export function claimDueLooks(sql: Sql, pool: string, limit: number, holdMs: number): Promise<ReconciliationRow[]> {
  return sql.query<ReconciliationRow>({
    name: 'claim-due-looks',
    text: `select ${COLUMNS} from journal_claim_looks($1, $2, $3)`,
    values: [pool, limit, holdMs],
  });
}

/** When to look again; null = not by itself. Nothing happens when the look is no longer the last one. */
export async function planNextLook(sql: Sql, callId: string, epoch: number, afterMs: number | null): Promise<void> {
  await sql.change({
    name: 'plan-next-look',
    text: 'select journal_plan_look($1, $2, $3)',
    values: [callId, epoch, afterMs],
  });
}

/** Locks the row; nobody decides it meanwhile. Null pool = any. */
export async function lockReconciliation(
  sql: Sql,
  pool: string | null,
  callId: string,
): Promise<ReconciliationRow | undefined> {
  const rows = await sql.query<ReconciliationRow>({
    name: 'lock-reconciliation',
    text: `select ${COLUMNS} from journal_lock_findings($2, $1, false)`,
    values: [callId, pool],
  });
  return rows[0];
}

/** Calls of the pool that joined this one and wait for what becomes of it. Locked. */
export function lockJoined(sql: Sql, ownerId: string, pool: string): Promise<ReconciliationRow[]> {
  return sql.query<ReconciliationRow>({
    name: 'lock-joined',
    text: `select ${COLUMNS} from journal_lock_findings($2, $1, true)`,
    values: [ownerId, pool],
  });
}

export interface Amendment {
  readonly callId: string;
  readonly amendment: number;
  readonly state: ReconciliationState;
  readonly said: Buffer;
  readonly record: Buffer | null;
}

/** U2: only from a state that is not decided for good, and only as the next amendment. Null epoch = whoever looks at it. */
export async function amendCall(sql: Sql, change: Amendment, epoch: number | null): Promise<boolean> {
  const rows = await sql.query<{ changed: boolean }>({
    name: 'amend-call',
    text: 'select journal_amend($1, $2, $3, $4, $5, $6) as changed',
    values: [change.callId, change.amendment, change.state, change.said, change.record, epoch],
  });
  return rows[0]!.changed;
}

/** U3: holds go, then the operation is completed or closed. Null operation: nobody runs its key again. */
export async function closeOperation(
  sql: Sql,
  callId: string,
  operation: 'succeeded' | 'closed' | null,
): Promise<void> {
  await sql.change({
    name: 'close-reconciled-operation',
    text: 'select journal_close_operation($1, $2)',
    values: [callId, operation],
  });
}

/**
 * U3: what a call did is taken back, so its operation is closed, if nothing acted on its key since.
 * @param byHandIn the pool in which a person says so; null: an undo is known to have succeeded
 * @returns false when nothing was to be closed
 */
export async function closeUndone(
  sql: Sql,
  tenant: string,
  undoneCallId: string,
  byHandIn: string | null,
): Promise<boolean> {
  const [row] = await sql.query<{ closed: boolean }>({
    name: 'close-undone-operation',
    text: 'select journal_close_undone($1, $2, $3) as closed',
    values: [tenant, undoneCallId, byHandIn],
  });
  return row!.closed;
}

export interface Evidence {
  readonly callId: string;
  readonly source: 'probe' | 'person' | 'late_answer';
  readonly evidence: string;
  readonly commandId?: string | null;
  readonly person?: string | null;
  readonly resolution?: string | null;
}

/** False: this command's evidence stands already. */
export async function insertEvidence(sql: Sql, evidence: Evidence): Promise<boolean> {
  const { callId, source, commandId = null, person = null, resolution = null } = evidence;
  const rows = await sql.query<{ added: boolean }>({
    name: 'insert-evidence',
    text: 'select journal_add_evidence($1, $2, $3, $4, $5, $6) as added',
    values: [callId, source, commandId, person, resolution, evidence.evidence],
  });
  return rows[0]!.added;
}

/** The last word of each person who spoke. */
export function readLastWords(sql: Sql, callId: string): Promise<{ person: string; resolution: string }[]> {
  return sql.query({
    name: 'read-last-words',
    text: 'select person, resolution from journal_last_words($1)',
    values: [callId],
  });
}

export interface OpenUnknowns {
  readonly open: number;
  readonly needsHuman: number;
  /** Milliseconds, by the database's clock. */
  readonly oldestMs: number;
}

export async function countUnknowns(sql: Sql, pool: string): Promise<OpenUnknowns> {
  const rows = await sql.query<OpenUnknowns>({
    name: 'count-unknowns',
    text: `select open, needs_human as "needsHuman", oldest_ms as "oldestMs" from journal_count_unknowns($1)`,
    values: [pool],
  });
  return rows[0]!;
}
