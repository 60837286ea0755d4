import type { Sql, Tx } from '#persistence';

export interface TranscriptRow {
  readonly position: number;
  readonly turn: number;
  /** JSON text. */
  readonly item: string;
}

/** All items of a run, in order. Positions are dense from 0. */
export function loadTranscript(sql: Sql, runId: string): Promise<TranscriptRow[]> {
  return sql.query<TranscriptRow>({
    name: 'load-transcript',
    text: 'select position, turn, item from transcript_item where run_id = $1 order by position',
    values: [runId],
  });
}

/** Appends behind the `after` items that are there. Only the owner of the run's open turn calls this, in its finishing transaction. */
export async function appendItems(
  tx: Tx,
  runId: string,
  turn: number,
  after: number,
  items: readonly string[],
): Promise<void> {
  if (items.length === 0) return;
  await tx.change({
    name: 'append-items',
    text: `insert into transcript_item (run_id, turn, position, item)
           select $1, $2, $3 + n - 1, item from unnest($4::text[]) with ordinality as new (item, n)`,
    values: [runId, turn, after, items],
  });
}

export interface TurnSummary {
  readonly turn: number;
  readonly state: string;
}

/** Turns of a run, for its own tenant only (G12). */
export function turnsOf(sql: Sql, tenant: string, runId: string): Promise<TurnSummary[]> {
  return sql.query<TurnSummary>({
    name: 'turns-of',
    text: 'select turn, state from turn where run_id = $1 and tenant = $2 order by turn',
    values: [runId, tenant],
  });
}
