-- Messages that stand until the bus acknowledged them; resent by the sweeper by their own status.
create table outgoing (
  id bigint generated always as identity primary key,
  topic text not null,
  key text not null,
  partition_key text,
  value bytea not null,
  headers jsonb,
  created_at timestamptz not null default now(),
  -- When the sweeper may send it (again); judged and written by the database's clock. A process that starts does not wait.
  next_at timestamptz not null default now() + interval '10 seconds',
  attempts integer not null default 0
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
create index outgoing_due on outgoing (next_at);
