-- Runs with their calls: one row each, read and written whole, locked while a batch is decided.
create table run (
  run_id text primary key,
  tenant text not null,
  -- Dense per tenant (and shard): given under the counter's lock in the transaction that inserts the row.
  run_no bigint not null,
  driver text not null,
  status text not null,
  -- Written once.
  definition json not null,
  -- Rewritten by each transition; the version counts them.
  state json not null,
  version integer not null default 1,
  -- The next timer (wall clock, grace, re-drive), judged by the database's clock; null = none, always for ended runs.
  wake_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
create index run_wake on run (wake_at) where wake_at is not null;

create table run_counter (
  tenant text not null,
  shard integer not null default 0,
  last bigint not null,
  primary key (tenant, shard)
) with (fillfactor = 50);
