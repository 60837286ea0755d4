-- The effect journal: narrow tables whose constraints carry the promises (adapters/journal.repository.ts lists them, J1 …).

-- Raised when a journal is restored from a backup: grants of an earlier epoch are then judged again.
create table journal (
  one boolean primary key default true check (one),
  epoch integer not null default 1
);
insert into journal default values;

create table call (
  call_id text collate "C" primary key,
  tenant text not null,
  pool text not null,
  state text not null check (state in ('queued', 'intended', 'returned', 'cancelled', 'succeeded', 'failed', 'outcome_unknown')),
  -- act: this call owns its operation. replay, join, conflict: it only answers what the operation's record says.
  mode text not null default 'act' check (mode in ('act', 'replay', 'join', 'conflict')),
  decision_no integer not null,
  grant_digest text not null,
  tool text not null,
  class text not null check (class in ('read', 'call', 'undo')),
  key_hash text not null,
  args_digest text not null,
  -- What may be done when it is unknown whether the effect happened: the contract's idempotency; probe = none, but it can be asked.
  repeat text not null check (repeat in ('natural', 'key', 'probe', 'none')),
  holds text[] not null default '{}',
  lease_owner text,
  lease_epoch integer not null default 1,
  lease_until timestamptz,
  lease_ms integer not null,
  -- Owners that may have begun to act.
  attempts integer not null default 0,
  queued_at timestamptz,
  intended_at timestamptz,
  settled_at timestamptz,
  -- A running tool is to be told to stop: its owner reads this when it renews its lease.
  stop_asked boolean not null default false,
  check ((state in ('queued', 'intended')) = (lease_owner is not null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
-- Open rows only: what the sweeper reads.
create index call_open on call (pool, call_id) where state in ('queued', 'intended');

create table operation (
  tenant text not null,
  tool text not null,
  class text not null check (class in ('read', 'call', 'undo')),
  key_hash text collate "C" not null,
  generation integer not null default 1,
  state text not null check (state in ('running', 'succeeded', 'unknown', 'closed')),
  args_digest text not null,
  -- The call that holds, or held, this generation.
  call_id text not null,
  -- A call of another run that was answered with this generation's outcome; null = none was.
  replayed_by text,
  -- How often an effect of this key was taken back: the source system is given another key from then on.
  taken_back integer not null default 0,
  primary key (tenant, tool, class, key_hash)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

create table grant_use (
  jti text collate "C" primary key,
  call_id text not null,
  approval_id text,
  use_number integer not null default 1,
  used_at timestamptz not null default now(),
  unique (approval_id, use_number)
);

create table resource_hold (
  tenant text not null,
  resource text collate "C" not null,
  -- Null: nobody writes. The row stays, so that the fence only grows.
  holder text,
  fence bigint not null,
  primary key (tenant, resource)
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05);

-- Payloads lie apart from the rows that change.
-- Rows of usual size stay in place and are not compressed: written once, read seldom.
create table call_request (
  call_id text collate "C" primary key,
  message bytea not null
) with (toast_tuple_target = 8160);
create table call_result (
  call_id text collate "C" primary key,
  settlement bytea not null
) with (toast_tuple_target = 8160);
-- What is left of a record once its payloads were kept for long enough (J16); never beside a whole one.
create table call_summary (
  call_id text collate "C" primary key,
  settlement bytea not null
);
create view call_record as select * from call_result union all select * from call_summary;

-- What became known of unknown outcomes: one row for each call that settled as outcome_unknown, and none for others
-- (adapters/reconciliation.repository.ts lists the states and their promises, U1 …).
create table reconciliation (
  call_id text collate "C" primary key,
  tenant text not null,
  pool text not null,
  -- The call that acted: this one, or the one that it joined.
  owner_id text collate "C" not null,
  state text not null default 'open' check (state in ('open', 'needs_human', 'succeeded', 'failed', 'partially_applied')),
  -- Counts what was said of the call after its settlement.
  amendment integer not null default 0,
  -- Grows with each look: one that is no longer the last decides nothing.
  epoch integer not null default 0,
  looks integer not null default 0,
  -- When the next look is due, which is after the end of the present one's lease; null = nobody looks.
  next_look timestamptz,
  since timestamptz not null default now(),
  -- The last CallReconciled; and, once decided, what repeats of the operation key are answered with.
  said bytea,
  record bytea,
  check (next_look is null or state in ('open', 'needs_human'))
);
create index reconciliation_due on reconciliation (pool, next_look) where next_look is not null;
create index reconciliation_open on reconciliation (pool, since) where state in ('open', 'needs_human');
create index reconciliation_owner on reconciliation (owner_id);

create table reconciliation_evidence (
  call_id text collate "C" not null,
  no bigint generated always as identity,
  source text not null check (source in ('probe', 'person', 'late_answer')),
  command_id text,
  person text,
  resolution text,
  evidence text not null,
  at timestamptz not null default now(),
  primary key (call_id, no),
  unique (call_id, command_id)
);

create type intent_input as (
  call_id text, tenant text, action text, epoch integer, decision_no integer, grant_digest text, jti text, expires_at bigint,
  journal_epoch integer, approval_id text, tool text, class text, key_hash text, args_digest text, repeat text, holds text[],
  lease_ms integer
);
