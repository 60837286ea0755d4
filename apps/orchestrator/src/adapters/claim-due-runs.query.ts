import type { Sql } from '#persistence';
import type { Run } from '../domain/run-state.ts';
import { RUN_COLUMNS, runOfRow, type RunRow } from './run-row.ts';

export interface DueRuns {
  readonly runs: readonly Run[];
  /** The database's clock, which judged them. Epoch milliseconds. */
  readonly now: number;
}

/** Locks runs whose timer is due, except those that another process has in work. */
export async function claimDueRuns(sql: Sql, limit: number): Promise<DueRuns> {
  const rows = await sql.query<RunRow & { now: number }>({
    name: 'claim-due-runs',
    text: `select ${RUN_COLUMNS}, ceil(extract(epoch from now()) * 1000)::bigint as now from claim_due_runs($1)`,
    values: [limit],
  });
  return { runs: rows.map(runOfRow), now: rows[0]?.now ?? 0 };
}
