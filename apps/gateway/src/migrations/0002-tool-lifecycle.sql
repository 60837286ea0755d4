-- What people said about a tool after it was published. Version '' = all of its versions, also those to come.
create table tool_standing (
  tenant text not null,
  -- ns.name
  tool text not null,
  version text not null default '',
  standing text not null check (standing in ('quarantined', 'deprecated')),
  primary key (tenant, tool, version)
);
-- Who did what to which tool, and why; rows are only added.
create table tool_change (
  change_no bigint generated always as identity primary key,
  tenant text not null,
  tool text not null,
  version text not null default '',
  change text not null
    check (change in ('published', 'quarantined', 'deprecated', 'released', 'proposed', 'approved', 'rejected')),
  -- of the contract; null = all versions
  digest text,
  changed_by text not null,
  reason text,
  changed_at timestamptz not null default now()
);
create index on tool_change (tenant, tool, change_no);
-- A version that waits for a reviewer; nobody but reviewers sees it.
create table tool_review (
  tenant text not null,
  tool text not null,
  version text not null,
  digest text not null,
  body jsonb not null,
  author text not null,
  -- the kind of its semantic diff against the version that was live, or `first`
  change text not null,
  proposed_at timestamptz not null default now(),
  primary key (tenant, tool, version)
);
-- Moves with every change of a tenant's tools, in the same commit: the other gateways read them anew when it did.
create table registry_revision (
  tenant text primary key,
  revision bigint not null
);
