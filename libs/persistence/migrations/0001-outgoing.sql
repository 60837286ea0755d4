-- Messages that stand until the bus acknowledged them; resent by the sweeper by their own status.
-- One row holds the messages of one commit (cut at about a megabyte): they are published, acknowledged and resent together.
create table outgoing (
  id bigint generated always as identity primary key,
  topics text[] not null,
  keys text[] not null,
  -- '' = the default hash of the key
  partition_keys text[] not null,
  -- The values stand in `body` one after the other.
  lengths integer[] not null,
  body bytea not null,
  -- One entry a message, when any has headers.
  headers jsonb,
  created_at timestamptz not null default now(),
  -- When the sweeper may send it (again); judged and written by the database's clock. A process that starts does not wait.
  next_at timestamptz not null default now() + interval '10 seconds',
  attempts integer not null default 0
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
-- Bodies are written once and deleted: compressing them is not worth the time.
alter table outgoing alter column body set storage external;
