import type { Sql } from '#persistence';
import type { Run } from '../domain/run-state.ts';
import { RUN_COLUMNS, runOfRow, type RunRow } from './run-row.ts';

/** Locks the runs, always in the order of their ids, so that two reducers never wait for each other. */
export async function loadRuns(sql: Sql, runIds: readonly string[]): Promise<Map<string, Run>> {
  if (runIds.length === 0) return new Map();
  const rows = await sql.query<RunRow>({
    name: 'load-runs',
    text: `select ${RUN_COLUMNS} from lock_runs($1)`,
    values: [[...runIds].sort()],
  });
  return new Map(rows.map((row) => [row.run_id, runOfRow(row)]));
}
