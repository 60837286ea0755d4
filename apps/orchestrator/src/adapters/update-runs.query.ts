import type { Sql } from '#persistence';
import { statusOf, type Run } from '../domain/run-state.ts';
import { wakeAt } from '../domain/timers.ts';
import { seconds } from './run-row.ts';

/** The rows are locked by the caller's transaction. */
export async function updateRuns(sql: Sql, runs: readonly Run[]): Promise<void> {
  if (runs.length === 0) return;
  await sql.query({
    name: 'save-runs',
    text: 'select save_runs($1::text[], $2::text[], $3::text[], $4::float8[])',
    values: [
      runs.map((run) => run.definition.runId),
      runs.map((run) => statusOf(run.state)),
      runs.map((run) => JSON.stringify(run.state)),
      runs.map((run) => seconds(wakeAt(run))),
    ],
  });
}
