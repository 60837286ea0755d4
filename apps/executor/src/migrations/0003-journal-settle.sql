-- journal_settle: one batch of outcomes with their outgoing messages, one statement, one commit (J9 J10 J11).
-- p_outcomes[].epoch      the lease epoch under which p_owner holds the row; 0 = a read that had no intent
-- p_outcomes[].operation  what becomes of the operation: succeeded | closed (no effect, proved) | unknown
-- answers one row for each outcome that changed something, with the id of its outgoing row; for a read that was already
-- recorded, the settlement that stands.
create function journal_settle(p_outcomes json, p_owner text)
returns table (call_id text, outgoing_id bigint, settlement text)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
as $body$
#variable_conflict use_column
declare
  input outcome_input[] := array(select r from json_populate_recordset(null::outcome_input, p_outcomes) r);
  changed settled_row[];
  done text[];
  reads text[] := '{}';
begin
  -- J9. A row has an owner only while it is queued or intended (a check of the table).
  with settled as (
    update call c
       set state = i.state, lease_owner = null, lease_until = null, settled_at = now()
      from unnest(input) i
     where i.epoch > 0 and c.call_id = i.call_id and c.lease_owner = p_owner and c.lease_epoch = i.epoch
    returning row(c.call_id, c.tenant, c.tool, c.class, c.key_hash, c.mode, c.holds, i.operation, i.keep_holds)::settled_row as one)
  select coalesce(array_agg(s.one), '{}') into changed from settled s;
  done := array(select d.call_id from unnest(changed) d);

  if cardinality(changed) < cardinality(input) then
    with recorded as (
      insert into call as c (call_id, tenant, pool, state, decision_no, grant_digest, tool, class, key_hash, args_digest, repeat,
                        lease_ms, attempts, settled_at)
      select i.call_id, i.tenant, i.pool, i.state, i.decision_no, i.grant_digest, i.tool, i.class, i.key_hash, i.args_digest,
             'natural', 0, 1, now()
        from unnest(input) i where i.epoch = 0 order by i.call_id
      on conflict (call_id) do nothing
      returning c.call_id)
    select coalesce(array_agg(r.call_id), '{}') into reads from recorded r;
  end if;

  -- J10: holds go with the outcome; an unknown one keeps them. Same order of tables and rows as journal_intend.
  if exists (select from unnest(changed) d where cardinality(d.holds) > 0) then
    with over as materialized (
      select d.tenant, r.resource, d.call_id
        from unnest(changed) d cross join lateral (select h collate "C" as resource from unnest(d.holds) h) r
       where not d.keep_holds order by d.tenant, r.resource)
    update resource_hold h set holder = null
      from over o where h.tenant = o.tenant and h.resource = o.resource and h.holder = o.call_id;
  end if;

  update operation o
     set state = d.operation
    from unnest(changed) d
   where d.operation is not null and d.mode = 'act'
     and o.tenant = d.tenant and o.tool = d.tool and o.class = d.class and o.key_hash = d.key_hash
     and o.call_id = d.call_id and o.state = 'running';

  insert into call_result (call_id, settlement)
  select i.call_id, i.settlement from unnest(input) i
   where i.call_id = any (done || reads) order by i.call_id;

  return query
  with sent as (
    insert into outgoing as g (topic, key, partition_key, value)
    select i.topic, i.call_id, i.partition_key, convert_to(i.settlement, 'UTF8') from unnest(input) i
     where i.call_id = any (done || reads)
    returning g.id, g.key)
  select s.key, s.id, null::text from sent s
  union all
  select i.call_id, null, r.settlement
    from unnest(input) i join call_result r on r.call_id = i.call_id
   where i.epoch = 0 and i.call_id <> all (reads);
end $body$;

-- journal_sweep: takes over open rows of a pool whose lease has ended, under a new epoch and with a higher fence (J12).
create function journal_sweep(p_pool text, p_owner text, p_limit integer)
returns table (call_id text, state text, mode text, lease_epoch integer, lease_ms integer, attempts integer, repeat text,
               message text, fences json, settlement text, waited_ms double precision)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $body$
#variable_conflict use_column
declare
  taken text[];
begin
  with lapsed as (
    select c.call_id from call c
     where c.pool = p_pool and c.state in ('queued', 'intended') and c.lease_until <= now()
     order by c.call_id limit p_limit for update skip locked),
  owned as (
    update call c
       set lease_owner = p_owner, lease_epoch = c.lease_epoch + 1,
           lease_until = now() + c.lease_ms * interval '1 millisecond',
           attempts = c.attempts + case when c.state = 'intended' and c.mode = 'act' then 1 else 0 end
      from lapsed l where c.call_id = l.call_id
    returning c.call_id)
  select coalesce(array_agg(o.call_id), '{}') into taken from owned o;

  with theirs as materialized (
    select c.tenant, r.resource, c.call_id
      from call c cross join lateral (select h collate "C" as resource from unnest(c.holds) h) r
     where c.call_id = any (taken) order by c.tenant, r.resource)
  update resource_hold h set fence = h.fence + 1
    from theirs t where h.tenant = t.tenant and h.resource = t.resource and h.holder = t.call_id;

  return query
  select c.call_id, c.state, c.mode, c.lease_epoch, c.lease_ms, c.attempts, c.repeat, q.message,
         (select json_object_agg(h.resource, h.fence) from resource_hold h
           where h.tenant = c.tenant and h.resource = any (c.holds) and h.holder = c.call_id),
         case when c.mode = 'replay' then
           (select s.settlement from operation o join call_result s on s.call_id = o.call_id
             where o.tenant = c.tenant and o.tool = c.tool and o.class = c.class and o.key_hash = c.key_hash) end,
         (extract(epoch from now() - c.queued_at) * 1000)::double precision
    from call c join call_request q on q.call_id = c.call_id
   where c.call_id = any (taken);
end $body$;
