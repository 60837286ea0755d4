import type { Sql } from '#persistence';
import type { StoredRun } from '../domain/show-views.ts';

/** What an open run waits for, as `showRun` says it. */
const OPEN_STATUS_SQL = `case
  when r.compensation = 'asked' then 'awaiting_user'
  when r.control is not null and r.compensation is distinct from 'running'
    and r.control_episode = greatest(1, (r.episode_rank + 1) / 2) then r.control
  when exists (select from call_view c where c.tenant = r.tenant and c.run_id = r.run_id and c.settled_at is null and c.status = 'asked') then 'awaiting_approval'
  when exists (select from call_view c where c.tenant = r.tenant and c.run_id = r.run_id and c.settled_at is null) then 'awaiting_calls'
  when r.driver = 'agent' then 'awaiting_model'
  else 'running' end`;

export interface RunsQuestion {
  readonly tenant: string;
  readonly limit: number;
  /** The last run id of the page before. */
  readonly after?: string | undefined;
  readonly status?: string | undefined;
  readonly principal?: string | undefined;
  readonly agent?: string | undefined;
  /** Runs that carry all of these. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

export const readRun = async (sql: Sql, tenant: string, runId: string): Promise<StoredRun | undefined> =>
  (
    await sql.query<StoredRun>({
      name: 'read-run',
      text: 'select * from run_view where tenant = $1 and run_id = $2',
      values: [tenant, runId],
    })
  )[0];

/** Newest first. */
export const readRuns = (
  sql: Sql,
  { tenant, limit, after, status, principal, agent, labels }: RunsQuestion,
): Promise<StoredRun[]> =>
  sql.query<StoredRun>({
    name: 'read-runs',
    text: `select r.* from run_view r
            where r.tenant = $1
              and ($3::text is null or (r.first_seen, r.run_id) < (select a.first_seen, a.run_id from run_view a where a.tenant = $1 and a.run_id = $3))
              and ($4::text is null or coalesce(r.status, ${OPEN_STATUS_SQL}) = $4)
              and ($5::text is null or r.principal = $5)
              and ($6::text is null or r.agent = $6)
              and ($7::text is null or r.labels::jsonb @> $7::jsonb)
            order by r.first_seen desc, r.run_id desc
            limit $2`,
    values: [
      tenant,
      limit,
      after ?? null,
      status ?? null,
      principal ?? null,
      agent ?? null,
      labels === undefined ? null : JSON.stringify(labels),
    ],
  });
