import type { Sql } from '#persistence';
import { statusOf, type Run } from '../domain/run-state.ts';
import { wakeAt } from '../domain/timers.ts';
import { seconds } from './run-row.ts';

/** The first commit wins. @throws a unique violation when one of them is there already */
export async function insertRuns(sql: Sql, runs: readonly Run[]): Promise<void> {
  if (runs.length === 0) return;
  const sorted = [...runs].sort((a, b) => (a.definition.runId < b.definition.runId ? -1 : 1));
  await sql.change({
    name: 'insert-runs',
    text: `insert into run (run_id, tenant, run_no, driver, status, definition, state, wake_at)
           select u.run_id, u.tenant, u.run_no, u.driver, u.status, u.definition::json, u.state::json, to_timestamp(u.wake_at)
             from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::float8[])
               as u (run_id, tenant, run_no, driver, status, definition, state, wake_at)`,
    values: [
      sorted.map((run) => run.definition.runId),
      sorted.map((run) => run.definition.tenant),
      sorted.map((run) => run.runNo),
      sorted.map((run) => run.definition.driver),
      sorted.map((run) => statusOf(run.state)),
      sorted.map((run) => JSON.stringify(run.definition)),
      sorted.map((run) => JSON.stringify(run.state)),
      sorted.map((run) => seconds(wakeAt(run))),
    ],
  });
}
