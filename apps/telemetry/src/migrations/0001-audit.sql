-- A ledger is one tenant on one partition of the audit: a chain of records with dense numbers, each naming the digest of the
-- one before it. A tenant has as many as the audit has partitions, so that replicas do not wait for one row of a tenant.
create table ledger (
  tenant text not null,
  part integer not null,
  last_seq bigint not null default 0,
  last_digest text not null default '',
  -- Everything up to here was acknowledged by the bus.
  published_seq bigint not null default 0,
  primary key (tenant, part)
) with (fillfactor = 50);

create table audit_record (
  tenant text not null,
  part integer not null,
  seq bigint not null,
  -- Derived from the fact: a redelivered fact is the same record, and a callId has one terminal record.
  event_id text not null,
  run_id text,
  call_id text,
  -- The CloudEvent exactly as it was published.
  event text not null,
  -- Of the event: a leaf of the ledger's tree, so that signing and proving read no events.
  digest bytea not null,
  recorded_at timestamptz not null default now(),
  primary key (tenant, part, seq),
  unique (event_id)
);
create index audit_record_of_run on audit_record (tenant, run_id, part, seq);
