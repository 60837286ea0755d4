-- What tenants may use in a day or a month, leased to orchestrators in slices. The protocol stands in domain/tenant-budget.ts.

-- Use of slices that were given back or taken over.
create table tenant_budget (
  tenant text not null,
  -- day:2026-11-30, month:2026-11; UTC.
  period text not null,
  kind text not null check (kind in ('calls', 'tokens', 'costUsd')),
  used bigint not null default 0,
  primary key (tenant, period, kind)
);

create sequence tenant_budget_epoch;
create table tenant_budget_slice (
  tenant text not null,
  period text not null,
  kind text not null,
  owner text not null,
  -- Never given twice: a writer with the epoch of a slice that was taken over changes nothing.
  epoch bigint not null unique default nextval('tenant_budget_epoch'),
  granted bigint not null default 0,
  -- Reserved and spent. Below zero when what another slice had reserved was settled here for less.
  used bigint not null default 0,
  -- Judged by the database's clock alone; each use renews it.
  lease_until timestamptz not null,
  primary key (tenant, period, kind, owner)
) with (fillfactor = 50);

-- Grants `owner` enough for `total` more, or what there is if that suffices for `least`; takes over what dead owners left.
create function lease_tenant_budget(
  of_tenant text, of_period text, of_kind text, to_owner text,
  least_need bigint, total_need bigint, chunk bigint, most bigint, lease_ms integer
) returns table (slice_epoch bigint, slice_left bigint)
language plpgsql
as $body$
declare
  closed bigint;
  live bigint;
  added bigint := 0;
  mine tenant_budget_slice;
begin
  insert into tenant_budget (tenant, period, kind) values (of_tenant, of_period, of_kind) on conflict do nothing;
  perform 1 from tenant_budget b
    where b.tenant = of_tenant and b.period = of_period and b.kind = of_kind for update;
  with dead as (
    delete from tenant_budget_slice s
     where s.tenant = of_tenant and s.period = of_period and s.kind = of_kind
       and s.owner <> to_owner and s.lease_until < clock_timestamp()
    returning s.used
  )
  update tenant_budget b set used = b.used + (select coalesce(sum(dead.used), 0) from dead)
   where b.tenant = of_tenant and b.period = of_period and b.kind = of_kind
  returning b.used into closed;
  insert into tenant_budget_slice as s (tenant, period, kind, owner, lease_until)
    values (of_tenant, of_period, of_kind, to_owner, clock_timestamp() + lease_ms * interval '1 millisecond')
    on conflict (tenant, period, kind, owner) do update set lease_until = excluded.lease_until
    returning s.* into mine;
  select coalesce(sum(greatest(s.granted, s.used)), 0) into live from tenant_budget_slice s
   where s.tenant = of_tenant and s.period = of_period and s.kind = of_kind;
  if mine.granted - mine.used < total_need and most - closed - live > 0
     and most - closed - live >= least_need - (mine.granted - mine.used) then
    added := least(most - closed - live, greatest(total_need - (mine.granted - mine.used), chunk));
    update tenant_budget_slice s set granted = s.granted + added where s.epoch = mine.epoch;
  end if;
  return query select mine.epoch, mine.granted + added - mine.used;
end
$body$;

-- Records use in the caller's transaction. Fails unless every slice is still the caller's and has the room; what was used
-- beyond its reservation (`overs`) has been used and needs none.
create function use_tenant_budget(epochs bigint[], amounts bigint[], overs bigint[], lease_ms integer) returns void
language plpgsql
as $body$
declare
  done integer;
begin
  perform 1 from tenant_budget_slice s where s.epoch = any(epochs) order by s.epoch for update;
  update tenant_budget_slice s
     set used = s.used + u.amount, lease_until = clock_timestamp() + lease_ms * interval '1 millisecond'
    from unnest(epochs, amounts, overs) as u (epoch, amount, beyond)
   where s.epoch = u.epoch and (u.amount - u.beyond <= 0 or s.used + u.amount - u.beyond <= s.granted);
  get diagnostics done = row_count;
  if done <> cardinality(epochs) then
    raise exception 'a slice of a tenant''s budget was taken over or is too small' using errcode = 'CSB01';
  end if;
end
$body$;
