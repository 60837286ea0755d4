-- One row per requested model turn: the inbox, the lease and the stored answer.
create table turn (
  run_id text not null,
  turn integer not null,
  tenant text not null,
  state text not null default 'pending' check (state in ('pending', 'completed', 'failed')),
  -- The RequestTurn message as it came.
  request bytea not null,
  -- The answer as it was published; a repeated request gets these bytes again.
  response bytea,
  -- The lowered tools that the model was shown and the choice it had, `{tools, toolChoice}`, as JSON text.
  offered text,
  lease_owner text,
  -- Judged by the database's clock alone.
  lease_until timestamptz not null default now(),
  -- Raised by each taking; a writer with an older one changes nothing.
  epoch integer not null default 0,
  requested_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (run_id, turn),
  check ((state = 'pending') = (response is null))
) with (fillfactor = 80);
create index turn_open on turn (lease_until) where state = 'pending';

-- Append-only. Text, not jsonb: items go back to the provider as they came, key order and escapes included.
create table transcript_item (
  run_id text not null,
  position integer not null,
  turn integer not null,
  item text not null,
  primary key (run_id, position)
);
