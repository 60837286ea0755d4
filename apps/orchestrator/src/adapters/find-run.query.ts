import type { Sql } from '#persistence';
import type { Run } from '../domain/run-state.ts';
import { RUN_COLUMNS, runOfRow, type RunRow } from './run-row.ts';

/** A run of this tenant, without a lock; null = none. */
export async function findRun(sql: Sql, tenant: string, runId: string): Promise<Run | null> {
  const rows = await sql.query<RunRow>({
    name: 'find-run',
    text: `select ${RUN_COLUMNS} from run where run_id = $1 and tenant = $2`,
    values: [runId, tenant],
  });
  return rows[0] ? runOfRow(rows[0]) : null;
}
