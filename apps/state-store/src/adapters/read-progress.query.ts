import type { Sql } from '#persistence';
import type { StoredProgress } from '../domain/show-progress.ts';

/** One statement, so that the run and its calls are of the same moment. */
export const readProgress = async (sql: Sql, tenant: string, runId: string): Promise<StoredProgress | undefined> =>
  (
    await sql.query<StoredProgress>({
      name: 'read-progress',
      text: `select r.*,
                    (select json_agg(c order by c.first_seen, c.call_id) from (
                       select call_id, rank, status, tool, provider_call_id, approval_rank, approval_id, settled_by, effect,
                              replayed, attempts, duration_ms, error_code, first_seen, error->>'replacedBy' as replaced_by, outcome_rank, reconciliation->>'by' as reconciled_by
                         from call_view where tenant = $1 and run_id = $2) c) as calls
               from (select $1::text as of_tenant, $2::text as of_run) asked
               left join run_view r on r.tenant = asked.of_tenant and r.run_id = asked.of_run`,
      values: [tenant, runId],
    })
  )[0];
