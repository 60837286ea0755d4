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

-- Signed heads. They lie beside the chain: signing waits for nobody and changes no record.
create table checkpoint (
  ledger text not null,
  size bigint not null,
  head text not null,
  kid text not null,
  signed_at timestamptz not null,
  jws text not null,
  primary key (ledger, size)
);
