-- Keys that sign checkpoints. One that came from a file is known by its public half alone.
create table signing_key (
  kid text primary key,
  public_jwk jsonb not null,
  private_jwk jsonb,
  active boolean not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);
create unique index one_active_signing_key on signing_key (active) where active;

-- The Merkle tree over the first `size` records of a ledger, as far as it is needed to grow. Made of the records alone: whoever
-- computes it comes to the same.
create table ledger_tree (
  tenant text not null,
  part integer not null,
  size bigint not null,
  -- Digest of record `size`.
  head bytea not null,
  -- Roots of the perfect trees that it is made of, the greatest first, 32 bytes each.
  peaks bytea not null,
  primary key (tenant, part)
) with (fillfactor = 50);

-- Roots over 256 records each, for proofs.
create table ledger_tile (
  tenant text not null,
  part integer not null,
  tile bigint not null,
  root bytea not null,
  primary key (tenant, part, tile)
);

-- Signed heads of all ledgers of a tenant. They lie beside the chains: signing waits for nobody and changes no record.
create table checkpoint (
  tenant text not null,
  -- Records of all its ledgers together.
  size bigint not null,
  kid text not null,
  jws text not null,
  primary key (tenant, size)
);
