import type { Sql } from '#persistence';
import { statusOf, type Run } from '../domain/run-state.ts';
import { wakeAt } from '../domain/timers.ts';
import { seconds } from './run-row.ts';

/** The rows are locked by the caller's transaction. */
export async function updateRuns(sql: Sql, runs: readonly Run[]): Promise<void> {
  if (runs.length === 0) return;
  await sql.change({
    name: 'update-runs',
    text: `update run r
              set status = u.status, state = u.state::json, version = r.version + 1,
                  wake_at = to_timestamp(u.wake_at), updated_at = now()
             from unnest($1::text[], $2::text[], $3::text[], $4::float8[]) as u (run_id, status, state, wake_at)
            where r.run_id = u.run_id`,
    values: [
      runs.map((run) => run.definition.runId),
      runs.map((run) => statusOf(run.state)),
      runs.map((run) => JSON.stringify(run.state)),
      runs.map((run) => seconds(wakeAt(run))),
    ],
  });
}
