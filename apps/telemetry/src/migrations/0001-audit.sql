-- One chain of records a tenant: dense numbers, each record naming the digest of the one before it.
create table ledger (
  tenant text primary key,
  last_seq bigint not null default 0,
  last_digest text not null default '',
  -- Everything up to here was acknowledged by the bus.
  published_seq bigint not null default 0
) with (fillfactor = 50);

create table audit_record (
  tenant text not null,
  seq bigint not null,
  -- Derived from the fact: a redelivered fact is the same record, and a callId has one terminal record.
  event_id text not null,
  run_id text,
  call_id text,
  -- The CloudEvent exactly as it was published.
  event text not null,
  recorded_at timestamptz not null default now(),
  primary key (tenant, seq),
  unique (event_id)
);
create index audit_record_of_run on audit_record (tenant, run_id, seq);
