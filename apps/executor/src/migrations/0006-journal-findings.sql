-- What finders of unknown outcomes do (adapters/reconciliation.repository.ts, U1 …), one function a statement.

create type finding_row as (
  call_id text, owner_id text, tenant text, pool text, state text, amendment integer, epoch integer, looks integer,
  age_ms double precision, said bytea, message bytea, taken_back integer
);

create function journal_claim_looks(p_pool text, p_limit integer, p_hold_ms integer) returns setof finding_row
language plpgsql as $body$
begin
  perform require_pool(p_pool);
  return query
  with due as (
    select r.call_id from reconciliation r
     where r.pool = p_pool and r.next_look <= now()
     order by r.next_look limit p_limit for update skip locked),
  taken as (
    update reconciliation r
       set epoch = r.epoch + 1, looks = r.looks + 1, next_look = now() + p_hold_ms * interval '1 millisecond'
      from due where r.call_id = due.call_id
    returning r.*)
  select r.call_id, r.owner_id, r.tenant, r.pool, r.state, r.amendment, r.epoch, r.looks,
         (extract(epoch from now() - r.since) * 1000)::double precision, r.said, q.message, t.taken_back
    from taken r join call_request q on q.call_id = r.call_id join call c on c.call_id = r.call_id
         left join operation t on t.tenant = c.tenant and t.tool = c.tool and t.class = c.class and t.key_hash = c.key_hash
                              and t.call_id = c.call_id;
end $body$;

create function journal_plan_look(p_call_id text, p_epoch integer, p_after_ms double precision) returns void
language plpgsql as $body$
begin
  update reconciliation r set next_look = now() + p_after_ms * interval '1 millisecond'
   where r.call_id = p_call_id and r.epoch = p_epoch and r.state in ('open', 'needs_human') and pool_allowed(r.pool);
end $body$;

-- Locks the row, or, with p_joined, those that joined it.
create function journal_lock_findings(p_pool text, p_call_id text, p_joined boolean) returns setof finding_row
language plpgsql as $body$
begin
  return query
  select r.call_id, r.owner_id, r.tenant, r.pool, r.state, r.amendment, r.epoch, r.looks,
         (extract(epoch from now() - r.since) * 1000)::double precision, r.said, q.message, null::integer
    from reconciliation r join call_request q on q.call_id = r.call_id
   where (not p_joined and r.call_id = p_call_id
          or p_joined and r.owner_id = p_call_id and r.call_id <> p_call_id and r.state in ('open', 'needs_human', 'partially_applied'))
     and (p_pool is null or r.pool = p_pool) and pool_allowed(r.pool)
   order by r.call_id for update of r;
end $body$;

create function journal_amend(p_call_id text, p_amendment integer, p_state text, p_said bytea, p_record bytea, p_epoch integer)
returns boolean language plpgsql as $body$
begin
  update reconciliation r
     set state = p_state, amendment = p_amendment, said = p_said, record = p_record, next_look = null, epoch = r.epoch + 1
   where r.call_id = p_call_id and r.amendment = p_amendment - 1 and r.state in ('open', 'needs_human', 'partially_applied')
     and (p_epoch is null or r.epoch = p_epoch) and pool_allowed(r.pool);
  return found;
end $body$;

create function journal_close_operation(p_call_id text, p_operation text) returns void language plpgsql as $body$
begin
  with theirs as materialized (
    select c.tenant, r.resource, c.call_id
      from call c cross join lateral (select h collate "C" as resource from unnest(c.holds) h) r
     where c.call_id = p_call_id and pool_allowed(c.pool) order by c.tenant, r.resource)
  update resource_hold h set holder = null
    from theirs t where h.tenant = t.tenant and h.resource = t.resource and h.holder = t.call_id;
  if p_operation is null then return; end if;
  update operation o set state = p_operation
    from call c
   where c.call_id = p_call_id and pool_allowed(c.pool) and o.tenant = c.tenant and o.tool = c.tool and o.class = c.class
     and o.key_hash = c.key_hash and o.call_id = c.call_id and o.state = 'unknown';
end $body$;

-- The effect of a call was taken back: by an undo, or, with p_pool, by other means, as a person says of a call of that pool.
-- False: the key's last outcome is not that call's, or does not stand.
create function journal_close_undone(p_tenant text, p_call_id text, p_pool text) returns boolean language plpgsql as $body$
begin
  if p_pool is not null then perform require_pool(p_pool); end if;
  update operation o set state = 'closed', taken_back = o.taken_back + 1
    from call c
   where c.call_id = p_call_id and c.tenant = p_tenant and pool_allowed(c.pool) and (p_pool is null or c.pool = p_pool)
     and o.tenant = c.tenant and o.tool = c.tool and o.class = c.class and o.key_hash = c.key_hash and o.call_id = c.call_id
     and o.state = 'succeeded';
  return found;
end $body$;

-- J15: which of these calls have outcomes that still stand and that other runs were answered with.
-- Of any pool: the undo may run in another one than what it takes back, and learns nothing else.
create function journal_find_replayed(p_call_ids text[]) returns table (call_id text) language plpgsql as $body$
begin
  return query
  select c.call_id
    from call c join operation o on o.tenant = c.tenant and o.tool = c.tool and o.class = c.class
                                and o.key_hash = c.key_hash and o.call_id = c.call_id
   where c.call_id = any (p_call_ids) and o.state = 'succeeded' and o.replayed_by is not null;
end $body$;

create function journal_add_evidence(
  p_call_id text, p_source text, p_command_id text, p_person text, p_resolution text, p_evidence text)
returns boolean language plpgsql as $body$
begin
  insert into reconciliation_evidence (call_id, source, command_id, person, resolution, evidence)
  select p_call_id, p_source, p_command_id, p_person, p_resolution, p_evidence
   where exists (select from reconciliation r where r.call_id = p_call_id and pool_allowed(r.pool))
  on conflict (call_id, command_id) do nothing;
  return found;
end $body$;

create function journal_last_words(p_call_id text) returns table (person text, resolution text) language plpgsql as $body$
begin
  return query
  select distinct on (e.person) e.person, e.resolution from reconciliation_evidence e
   where e.call_id = p_call_id and e.source = 'person'
     and exists (select from reconciliation r where r.call_id = p_call_id and pool_allowed(r.pool))
   order by e.person, e.no desc;
end $body$;

create function journal_count_unknowns(p_pool text, out open integer, out needs_human integer, out oldest_ms double precision)
language plpgsql as $body$
begin
  perform require_pool(p_pool);
  select count(*) filter (where r.state = 'open')::int, count(*) filter (where r.state = 'needs_human')::int,
         coalesce(extract(epoch from now() - min(r.since)) * 1000, 0)::double precision
    into open, needs_human, oldest_ms
    from reconciliation r where r.pool = p_pool and r.state in ('open', 'needs_human');
end $body$;
