-- Decisions (P1–P7 in domain/decision.ts): the inbox of CallProposed and the holder of the right to settle.
create table decision (
  call_id text not null,
  decision_no integer not null check (decision_no >= 1),
  tenant text not null,
  run_id text not null,
  state text not null check (state in ('granted', 'asked', 'denied', 'edited', 'expired', 'cancelled', 'superseded')),
  policy_digest text not null,
  -- JSON array of policy ids.
  reasons text not null,
  -- Epoch milliseconds: stands in the messages, so a repeat carries the same bytes.
  decided_at bigint not null,
  returns integer not null default 0,
  grant_token text,
  grant_expires_at timestamptz,
  approval_id text,
  -- JSON array of principal ids.
  approvers text,
  refusal_code text,
  refusal_message text,
  -- The bytes of CallProposed; on number 1 only.
  proposal bytea,
  primary key (call_id, decision_no),
  check ((state = 'granted') = (grant_token is not null and grant_expires_at is not null)),
  check (state not in ('denied', 'edited', 'expired', 'cancelled') or refusal_code is not null),
  check (state <> 'asked' or approval_id is not null),
  check ((decision_no = 1) = (proposal is not null))
) with (fillfactor = 90);

create table approval (
  approval_id text primary key,
  tenant text not null,
  call_id text not null,
  decision_no integer not null,
  run_id text not null,
  pool text not null,
  status text not null check (status in ('pending', 'approved', 'rejected', 'expired', 'withdrawn', 'superseded', 'consumed')),
  -- Data of ApprovalRequested, as it was sent.
  request text not null,
  requested_at bigint not null,
  expires_at timestamptz not null,
  command_id text,
  -- Principal, as JSON.
  decided_by text,
  decided_at bigint,
  reason text,
  superseded_why text,
  -- The approval that took its place.
  replaced_by text,
  unique (call_id, decision_no),
  check (status not in ('approved', 'rejected', 'consumed') or (decided_by is not null and decided_at is not null))
) with (fillfactor = 80);
create index approval_due on approval (expires_at) where status = 'pending';
create index approval_of_tenant on approval (tenant, requested_at, approval_id);
create index approval_pending on approval (tenant, requested_at, approval_id) where status = 'pending';

-- Who approved, each person once; the approval's row is held while one is added.
create table approval_vote (
  approval_id text not null references approval,
  principal_id text not null,
  -- Principal with the roles that the credential showed, as JSON.
  principal text not null,
  command_id text not null,
  voted_at bigint not null,
  primary key (approval_id, principal_id)
);

-- Inbox of people's decisions: one verdict per command, sent again on a repeat.
create table approval_command (
  tenant text not null,
  command_id text not null,
  -- The messages that answered it: topic, key, partition key and bytes.
  topics text[] not null,
  keys text[] not null,
  answers bytea[] not null,
  received_at timestamptz not null default now(),
  primary key (tenant, command_id)
);

-- Ed25519 keys that sign grants. Private halves never leave this schema.
create table signing_key (
  kid text primary key,
  private_jwk jsonb not null,
  active boolean not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);
create unique index one_active_signing_key on signing_key (active) where active;
