-- Standing grants (S1–S5 in domain/standing.ts).
create table standing_grant (
  standing_id text primary key,
  tenant text not null,
  contract_digest text not null,
  -- StandingScope, as JSON.
  scope text not null,
  max_uses integer not null check (max_uses >= 1),
  total_amount bigint,
  uses integer not null default 0 check (uses between 0 and max_uses),
  amount_used bigint not null default 0 check (amount_used >= 0 and (total_amount is null or amount_used <= total_amount)),
  expires_at timestamptz not null,
  -- Principal, as JSON.
  granted_by text not null,
  granted_at bigint not null,
  reason text,
  revoked_by text,
  revoked_at bigint
) with (fillfactor = 80);
create index standing_of_contract on standing_grant (tenant, contract_digest) where revoked_at is null;
create index standing_of_tenant on standing_grant (tenant, granted_at, standing_id);

-- One use is one exact call.
create table standing_use (
  call_id text primary key,
  standing_id text not null references standing_grant,
  tenant text not null,
  pool text not null,
  amount bigint not null
);
create index standing_uses on standing_use (standing_id);
