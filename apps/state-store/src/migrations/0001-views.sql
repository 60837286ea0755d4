-- Read models: folded from facts, in any order and any number of times. The truth is elsewhere.
create table run_view (
  tenant text not null,
  run_id text not null,
  driver text,
  agent text,
  principal text,
  request_digest text,
  task_id text,
  labels json,
  started_at timestamptz,
  turns integer not null default 0,
  -- Twice the episode whose end is shown; one less: that episode has begun and not ended; 0 = neither was seen.
  episode_rank integer not null default 0,
  status text,
  outcome text,
  cause json,
  answer text,
  ended_at timestamptz,
  usage json,
  -- 1 = a person is asked; twice the round that has begun; one more: that round is over.
  compensation_rank integer not null default 0,
  compensation text,
  compensation_report json,
  -- What was found out after an end: see amendRank of view-rows.ts; 0 = nothing.
  amend_rank integer not null default 0,
  amended_outcome text,
  first_seen timestamptz not null,
  -- Orders of people, and what the last of them holds: 'paused', 'taken_over'; null = nothing.
  control_rank integer not null default 0,
  control text,
  control_episode integer not null default 0,
  -- The furthest stage that a turn was asked for in; 0 = the run has none, or none is known.
  stage_no integer not null default 0,
  stage text,
  primary key (tenant, run_id)
) with (fillfactor = 70);
create index run_view_newest on run_view (tenant, first_seen desc, run_id desc);

create table call_view (
  tenant text not null,
  call_id text not null,
  run_id text not null,
  rank integer not null,
  status text not null,
  principal text,
  provider_call_id text,
  tool text,
  contract_digest text,
  approval_rank integer not null default 0,
  approval_id text,
  settled_by text,
  -- Whose effect, error, result and reconciliation these are: 0 nobody's, 1 the settlement's, 1 + n its nth amendment's.
  outcome_rank integer not null default 0,
  effect text,
  replayed boolean,
  attempts integer,
  duration_ms double precision,
  error_code text,
  -- json, not jsonb: it is only ever shown as it came.
  error json,
  result json,
  resource_ids text[],
  cancellation json,
  -- Of an undo: the call that it takes back.
  undoes text,
  first_seen timestamptz not null,
  settled_at timestamptz,
  -- Who found out an unknown outcome, and how; null = it was never unknown, or is still.
  reconciliation json,
  primary key (tenant, call_id)
) with (fillfactor = 60);
create index call_view_of_run on call_view (tenant, run_id);
create index call_view_newest on call_view (tenant, first_seen desc, call_id desc);
-- The queue of those who look after unknown outcomes: few rows among many.
create index call_view_unknown on call_view (tenant, settled_at, call_id) where status in ('outcome_unknown', 'needs_human', 'partially_applied');
