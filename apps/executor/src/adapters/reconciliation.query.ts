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
}

const COLUMNS = `r.call_id as "callId", r.owner_id as "ownerId", r.tenant, r.pool, r.state, r.amendment, r.epoch, r.looks,
  (extract(epoch from now() - r.since) * 1000)::double precision as "ageMs", r.said, q.message`;

/** Takes looks that are due: nobody else takes them for `holdMs`. */
export function claimDueLooks(sql: Sql, pool: string, limit: number, holdMs: number): Promise<ReconciliationRow[]> {
  return sql.query<ReconciliationRow>({
    name: 'claim-due-looks',
    text: `with due as (
             select call_id from reconciliation
              where pool = $1 and next_look <= now()
              order by next_look limit $2 for update skip locked),
           taken as (
             update reconciliation r
                set epoch = r.epoch + 1, looks = r.looks + 1, next_look = now() + $3 * interval '1 millisecond'
               from due where r.call_id = due.call_id
             returning r.*)
           select ${COLUMNS} from taken r join call_request q on q.call_id = r.call_id`,
    values: [pool, limit, holdMs],
  });
}

/** When to look again; null = not by itself. Nothing happens when the look is no longer the last one. */
export function planNextLook(sql: Sql, callId: string, epoch: number, afterMs: number | null): Promise<number> {
  return sql.change({
    name: 'plan-next-look',
    text: `update reconciliation set next_look = now() + $3::double precision * interval '1 millisecond'
            where call_id = $1 and epoch = $2 and state in ('open', 'needs_human')`,
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
    text: `select ${COLUMNS} from reconciliation r join call_request q on q.call_id = r.call_id
            where r.call_id = $1 and ($2::text is null or r.pool = $2) for update of r`,
    values: [callId, pool],
  });
  return rows[0];
}

/** Calls of the pool that joined this one and wait for what becomes of it. Locked. */
export function lockJoined(sql: Sql, ownerId: string, pool: string): Promise<ReconciliationRow[]> {
  return sql.query<ReconciliationRow>({
    name: 'lock-joined',
    text: `select ${COLUMNS} from reconciliation r join call_request q on q.call_id = r.call_id
            where r.owner_id = $1 and r.call_id <> $1 and r.pool = $2 and r.state in ('open', 'needs_human')
            order by r.call_id for update of r`,
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

/** U2: only from a state that is not decided, and only as the next amendment. Null epoch = whoever looks at it. */
export async function amendCall(sql: Sql, change: Amendment, epoch: number | null): Promise<boolean> {
  const changed = await sql.change({
    name: 'amend-call',
    text: `update reconciliation
              set state = $3, amendment = $2, said = $4, record = $5, next_look = null, epoch = epoch + 1
            where call_id = $1 and amendment = $2 - 1 and state in ('open', 'needs_human') and ($6::int is null or epoch = $6)`,
    values: [change.callId, change.amendment, change.state, change.said, change.record, epoch],
  });
  return changed === 1;
}

/** U3: holds go, then the operation is completed or closed. Null operation: nobody runs its key again. */
export async function closeOperation(
  sql: Sql,
  callId: string,
  operation: 'succeeded' | 'closed' | null,
): Promise<void> {
  await sql.change({
    name: 'release-reconciled-holds',
    text: `with theirs as materialized (
             select c.tenant, r.resource, c.call_id
               from call c cross join lateral (select h collate "C" as resource from unnest(c.holds) h) r
              where c.call_id = $1 order by c.tenant, r.resource)
           update resource_hold h set holder = null
             from theirs t where h.tenant = t.tenant and h.resource = t.resource and h.holder = t.call_id`,
    values: [callId],
  });
  if (operation === null) return;
  await sql.change({
    name: 'close-reconciled-operation',
    text: `update operation o set state = $2
             from call c
            where c.call_id = $1 and o.tenant = c.tenant and o.tool = c.tool and o.class = c.class
              and o.key_hash = c.key_hash and o.call_id = c.call_id and o.state = 'unknown'`,
    values: [callId, operation],
  });
}

/** U3: an undo is known to have succeeded, so the operation that it took back is closed, if nothing acted on its key since. */
export async function closeUndoneOperation(sql: Sql, tenant: string, undoneCallId: string): Promise<void> {
  await sql.change({
    name: 'close-undone-operation',
    text: `update operation o set state = 'closed'
             from call c
            where c.call_id = $2 and c.tenant = $1 and o.tenant = c.tenant and o.tool = c.tool and o.class = c.class
              and o.key_hash = c.key_hash and o.call_id = c.call_id and o.state = 'succeeded'`,
    values: [tenant, undoneCallId],
  });
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
  const changed = await sql.change({
    name: 'insert-evidence',
    text: `insert into reconciliation_evidence (call_id, source, command_id, person, resolution, evidence)
           values ($1, $2, $3, $4, $5, $6) on conflict (call_id, command_id) do nothing`,
    values: [callId, source, commandId, person, resolution, evidence.evidence],
  });
  return changed === 1;
}

/** The last word of each person who spoke. */
export function readLastWords(sql: Sql, callId: string): Promise<{ person: string; resolution: string }[]> {
  return sql.query({
    name: 'read-last-words',
    text: `select distinct on (person) person, resolution from reconciliation_evidence
            where call_id = $1 and source = 'person' order by person, no desc`,
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
    text: `select count(*) filter (where state = 'open')::int as open,
                  count(*) filter (where state = 'needs_human')::int as "needsHuman",
                  coalesce(extract(epoch from now() - min(since)) * 1000, 0)::double precision as "oldestMs"
             from reconciliation where pool = $1 and state in ('open', 'needs_human')`,
    values: [pool],
  });
  return rows[0]!;
}
