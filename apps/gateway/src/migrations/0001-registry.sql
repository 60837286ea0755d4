-- Contracts are addressed by their content; which tenant published them under which name is kept apart (G12).
create table contract (
  digest text primary key,
  body jsonb not null,
  published_at timestamptz not null default now()
);
create table tool_version (
  tenant text not null,
  -- ns.name
  tool text not null,
  version text not null,
  digest text not null references contract (digest),
  published_at timestamptz not null default now(),
  primary key (tenant, tool, version)
);
-- The version that `ns.name` means: the highest that was published.
create table live_version (
  tenant text not null,
  tool text not null,
  version text not null,
  primary key (tenant, tool),
  foreign key (tenant, tool, version) references tool_version (tenant, tool, version)
);
