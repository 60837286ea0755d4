import type { Sql } from '#persistence';
import type { Folded } from '../domain/fold-facts.ts';
import type { CallRow, RunRow } from '../domain/view-rows.ts';

/** Merges rows into both tables by V1–V3, each in one statement; nothing at all when there is nothing. */
export async function foldViews(sql: Sql, { runs, calls }: Folded): Promise<void> {
  // Calls first: nobody reads a run as ended whose calls are still open here.
  for (const rows of portions(calls)) await foldCalls(sql, rows);
  if (runs.length > 0) await foldRuns(sql, runs);
}

/** Characters of results that one statement carries. */
const MAX_PORTION = 4_000_000;

function portions(rows: readonly CallRow[]): CallRow[][] {
  const out: CallRow[][] = [];
  let size = 0;
  for (const row of rows) {
    const own = (row.result?.length ?? 0) + (row.error?.length ?? 0);
    if (out.length === 0 || size + own > MAX_PORTION) {
      out.push([]);
      size = 0;
    }
    out.at(-1)!.push(row);
    size += own;
  }
  return out;
}

const column = <R, K extends keyof R>(rows: readonly R[], key: K): R[K][] => rows.map((row) => row[key]);

async function foldRuns(sql: Sql, rows: readonly RunRow[]): Promise<void> {
  await sql.change({
    name: 'fold-runs',
    text: `insert into run_view as v (tenant, run_id, driver, agent, principal, request_digest, task_id, labels, started_at,
             turns, episode_rank, status, outcome, cause, answer, ended_at, usage,
             compensation_rank, compensation, compensation_report, first_seen, amend_rank, amended_outcome,
             control_rank, control, control_episode, stage_no, stage)
           select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::json[],
             $9::timestamptz[], $10::int[], $11::int[], $12::text[], $13::text[], $14::json[], $15::text[], $16::timestamptz[], $17::json[],
             $18::int[], $19::text[], $20::json[], $21::timestamptz[], $22::int[], $23::text[], $24::int[], $25::text[], $26::int[],
             $27::int[], $28::text[])
           on conflict (tenant, run_id) do update set
             driver = coalesce(v.driver, excluded.driver),
             agent = coalesce(v.agent, excluded.agent),
             principal = coalesce(v.principal, excluded.principal),
             request_digest = coalesce(v.request_digest, excluded.request_digest),
             task_id = coalesce(v.task_id, excluded.task_id),
             labels = coalesce(v.labels, excluded.labels),
             started_at = coalesce(v.started_at, excluded.started_at),
             turns = greatest(v.turns, excluded.turns),
             episode_rank = greatest(v.episode_rank, excluded.episode_rank),
             status = case when excluded.episode_rank > v.episode_rank then excluded.status else v.status end,
             outcome = case when excluded.episode_rank > v.episode_rank then excluded.outcome else v.outcome end,
             cause = case when excluded.episode_rank > v.episode_rank then excluded.cause else v.cause end,
             answer = case when excluded.episode_rank > v.episode_rank then coalesce(excluded.answer, v.answer) else coalesce(v.answer, excluded.answer) end,
             ended_at = case when excluded.episode_rank > v.episode_rank then excluded.ended_at else v.ended_at end,
             usage = case when excluded.episode_rank > v.episode_rank then excluded.usage else v.usage end,
             compensation_rank = greatest(v.compensation_rank, excluded.compensation_rank),
             compensation = case when excluded.compensation_rank > v.compensation_rank then excluded.compensation else v.compensation end,
             compensation_report = case when excluded.compensation_rank > v.compensation_rank then excluded.compensation_report else v.compensation_report end,
             amend_rank = greatest(v.amend_rank, excluded.amend_rank),
             amended_outcome = case when excluded.amend_rank > v.amend_rank then excluded.amended_outcome else v.amended_outcome end,
             control_rank = greatest(v.control_rank, excluded.control_rank),
             control = case when excluded.control_rank > v.control_rank then excluded.control else v.control end,
             control_episode = case when excluded.control_rank > v.control_rank then excluded.control_episode else v.control_episode end,
             stage_no = greatest(v.stage_no, excluded.stage_no),
             stage = case when excluded.stage_no > v.stage_no then excluded.stage else v.stage end,
             first_seen = least(v.first_seen, excluded.first_seen)`,
    values: [
      column(rows, 'tenant'),
      column(rows, 'runId'),
      column(rows, 'driver'),
      column(rows, 'agent'),
      column(rows, 'principal'),
      column(rows, 'requestDigest'),
      column(rows, 'taskId'),
      column(rows, 'labels'),
      column(rows, 'startedAt'),
      column(rows, 'turns'),
      column(rows, 'episodeRank'),
      column(rows, 'status'),
      column(rows, 'outcome'),
      column(rows, 'cause'),
      column(rows, 'answer'),
      column(rows, 'endedAt'),
      column(rows, 'usage'),
      column(rows, 'compensationRank'),
      column(rows, 'compensation'),
      column(rows, 'compensationReport'),
      column(rows, 'firstSeen'),
      column(rows, 'amendRank'),
      column(rows, 'amendedOutcome'),
      column(rows, 'controlRank'),
      column(rows, 'control'),
      column(rows, 'controlEpisode'),
      column(rows, 'stageNo'),
      column(rows, 'stage'),
    ],
  });
}

async function foldCalls(sql: Sql, rows: readonly CallRow[]): Promise<void> {
  await sql.change({
    name: 'fold-calls',
    text: `insert into call_view as v (tenant, call_id, run_id, rank, status, principal, provider_call_id, tool, contract_digest,
             approval_rank, approval_id, settled_by, effect, replayed, attempts, duration_ms, error_code, error, result, resource_ids,
             first_seen, settled_at, reconciliation, outcome_rank, cancellation, undoes)
           select f.tenant, f.call_id, f.run_id, f.rank, f.status, f.principal, f.provider_call_id, f.tool, f.contract_digest,
             f.approval_rank, f.approval_id, f.settled_by, f.effect, f.replayed, f.attempts, f.duration_ms, f.error_code, f.error, f.result,
             (select array_agg(id) from json_array_elements_text(f.resource_ids) id), f.first_seen, f.settled_at, f.reconciliation, f.outcome_rank, f.cancellation, f.undoes
             from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
               $10::int[], $11::text[], $12::text[], $13::text[], $14::bool[], $15::int[], $16::float8[], $17::text[], $18::json[], $19::json[],
               $20::json[], $21::timestamptz[], $22::timestamptz[], $23::json[], $24::int[], $25::json[], $26::text[])
             as f (tenant, call_id, run_id, rank, status, principal, provider_call_id, tool, contract_digest, approval_rank, approval_id,
               settled_by, effect, replayed, attempts, duration_ms, error_code, error, result, resource_ids, first_seen, settled_at, reconciliation, outcome_rank, cancellation, undoes)
           on conflict (tenant, call_id) do update set
             rank = greatest(v.rank, excluded.rank),
             status = case when excluded.rank > v.rank then excluded.status else v.status end,
             principal = coalesce(v.principal, excluded.principal),
             provider_call_id = coalesce(v.provider_call_id, excluded.provider_call_id),
             tool = case when excluded.rank > v.rank then coalesce(excluded.tool, v.tool) else coalesce(v.tool, excluded.tool) end,
             contract_digest = coalesce(v.contract_digest, excluded.contract_digest),
             approval_rank = greatest(v.approval_rank, excluded.approval_rank),
             approval_id = case when excluded.approval_rank > v.approval_rank then excluded.approval_id else v.approval_id end,
             settled_by = coalesce(v.settled_by, excluded.settled_by),
             effect = case when excluded.outcome_rank > v.outcome_rank then excluded.effect else v.effect end,
             replayed = coalesce(v.replayed, excluded.replayed),
             attempts = coalesce(v.attempts, excluded.attempts),
             duration_ms = coalesce(v.duration_ms, excluded.duration_ms),
             error_code = case when excluded.outcome_rank > v.outcome_rank then excluded.error_code else v.error_code end,
             error = case when excluded.outcome_rank > v.outcome_rank then excluded.error else v.error end,
             result = case when excluded.outcome_rank > v.outcome_rank then excluded.result else v.result end,
             resource_ids = case when excluded.outcome_rank > v.outcome_rank then excluded.resource_ids else v.resource_ids end,
             first_seen = least(v.first_seen, excluded.first_seen),
             settled_at = coalesce(v.settled_at, excluded.settled_at),
             cancellation = coalesce(v.cancellation, excluded.cancellation),
             undoes = coalesce(v.undoes, excluded.undoes),
             outcome_rank = greatest(v.outcome_rank, excluded.outcome_rank),
             reconciliation = case when excluded.outcome_rank > v.outcome_rank then excluded.reconciliation else v.reconciliation end`,
    values: [
      column(rows, 'tenant'),
      column(rows, 'callId'),
      column(rows, 'runId'),
      column(rows, 'rank'),
      column(rows, 'status'),
      column(rows, 'principal'),
      column(rows, 'providerCallId'),
      column(rows, 'tool'),
      column(rows, 'contractDigest'),
      column(rows, 'approvalRank'),
      column(rows, 'approvalId'),
      column(rows, 'settledBy'),
      column(rows, 'effect'),
      column(rows, 'replayed'),
      column(rows, 'attempts'),
      column(rows, 'durationMs'),
      column(rows, 'errorCode'),
      column(rows, 'error'),
      column(rows, 'result'),
      rows.map((row) => row.resourceIds && JSON.stringify(row.resourceIds)),
      column(rows, 'firstSeen'),
      column(rows, 'settledAt'),
      column(rows, 'reconciliation'),
      column(rows, 'outcomeRank'),
      column(rows, 'cancellation'),
      column(rows, 'undoes'),
    ],
  });
}
