-- journal_settle: one batch of outcomes with their outgoing messages, one statement, one commit (J9 J10 J11).
-- The arrays have one entry an outcome, sorted by call_id, each call once.
-- p_epochs      the lease epoch under which p_owner holds the row; 0 = a read that had no intent, or a cancelled call
-- p_operations  what becomes of the operation: succeeded | closed (no effect, proved) | unknown; null = it is another call's
-- p_lengths     bytes of each settlement in p_body, where they stand one after the other from p_starts (from 1) on
-- answers one row: the calls that changed (null = all), the id of the outgoing row with their messages, and for reads that
-- were recorded before, the settlements that stand.
create function journal_settle(
  p_owner text, p_pool text, p_call_ids text[], p_epochs integer[], p_states text[], p_operations text[], p_keep_holds boolean[],
  p_tenants text[], p_decision_nos integer[], p_grant_digests text[], p_tools text[], p_classes text[], p_key_hashes text[],
  p_args_digests text[], p_topics text[], p_partition_keys text[], p_starts integer[], p_lengths integer[], p_body bytea,
  out outgoing_id bigint, out changed text[], out recorded json)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
as $body$
#variable_conflict use_column
declare
  reads text[] := '{}';
begin
  perform require_pool(p_pool, p_topics);
  if 0 = any (p_epochs) then
    with added as (
      insert into call as c (call_id, tenant, pool, state, decision_no, grant_digest, tool, class, key_hash, args_digest, repeat,
                        lease_ms, attempts, settled_at)
      select i.call_id, i.tenant, p_pool, i.state, i.decision_no, i.grant_digest, i.tool, i.class, i.key_hash, i.args_digest,
             'natural', 0, 1, now()
        from unnest(p_call_ids, p_epochs, p_states, p_tenants, p_decision_nos, p_grant_digests, p_tools, p_classes,
                    p_key_hashes, p_args_digests)
             as i (call_id, epoch, state, tenant, decision_no, grant_digest, tool, class, key_hash, args_digest)
       where i.epoch = 0 order by i.call_id
      -- A cancelled call that nobody was told of: its grant has come now, or it was a read that had begun already.
      -- A returned one: what was granted before the journal was restored is not run again.
      on conflict (call_id) do update
         set state = excluded.state, decision_no = excluded.decision_no, grant_digest = excluded.grant_digest, tool = excluded.tool,
             class = excluded.class, key_hash = excluded.key_hash, args_digest = excluded.args_digest, settled_at = now()
       where (c.state = 'cancelled' and c.settled_at is null or c.state = 'returned') and c.tenant = excluded.tenant
         and (c.pool = excluded.pool or session_user = current_user)
      returning c.call_id)
    select coalesce(array_agg(a.call_id), '{}') into reads from added a;
  end if;

  -- J9. A row has an owner only while it is queued or intended (a check of the table).
  -- J10: holds go with the outcome; an unknown one keeps them. Same order of tables and rows as journal_intend.
  with settled as (
    update call c
       set state = i.state, lease_owner = null, lease_until = null, settled_at = now()
      from unnest(p_call_ids, p_epochs, p_states, p_operations, p_keep_holds, p_starts, p_lengths)
           as i (call_id, epoch, state, operation, keep_holds, start, length)
     where i.epoch > 0 and c.call_id = i.call_id and c.lease_owner = p_owner and c.lease_epoch = i.epoch
       and pool_allowed(c.pool)
    returning c.call_id, c.tenant, c.tool, c.class, c.key_hash, c.mode, c.holds, i.operation, i.keep_holds, i.start, i.length),
  over as materialized (
    select s.tenant, r.resource, s.call_id
      from settled s cross join lateral (select h collate "C" as resource from unnest(s.holds) h) r
     where not s.keep_holds order by s.tenant, r.resource),
  released as (
    update resource_hold h set holder = null
      from over o where h.tenant = o.tenant and h.resource = o.resource and h.holder = o.call_id
    returning 1),
  ended as (
    update operation o
       set state = s.operation
      from settled s
     where (select count(*) from released) >= 0 and s.operation is not null and s.mode = 'act'
       and o.tenant = s.tenant and o.tool = s.tool and o.class = s.class and o.key_hash = s.key_hash
       and o.call_id = s.call_id and o.state = 'running'),
  stored as (
    insert into call_result (call_id, settlement)
    select d.call_id, substring(p_body from d.start for d.length)
      from (select s.call_id, s.start, s.length from settled s
            union all
            select i.call_id, i.start, i.length
              from unnest(p_call_ids, p_starts, p_lengths) as i (call_id, start, length) where i.call_id = any (reads)) d
    returning call_id)
  select coalesce(array_agg(t.call_id), '{}') into changed from stored t;

  -- U1: what ended as unknown is looked for from now on, in this commit.
  if 'outcome_unknown' = any (p_states) then
    insert into reconciliation (call_id, tenant, pool, owner_id, next_look)
    select c.call_id, c.tenant, c.pool, case when c.mode = 'join' then coalesce(o.call_id, c.call_id) else c.call_id end, now()
      from call c left join operation o
           on o.tenant = c.tenant and o.tool = c.tool and o.class = c.class and o.key_hash = c.key_hash
     where c.call_id = any (changed) and c.state = 'outcome_unknown'
    on conflict (call_id) do nothing;
  end if;

  if cardinality(changed) = cardinality(p_call_ids) then
    insert into outgoing (topics, keys, partition_keys, lengths, body)
    values (p_topics, p_call_ids, p_partition_keys, p_lengths, p_body) returning id into outgoing_id;
    changed := null;
    return;
  end if;
  insert into outgoing (topics, keys, partition_keys, lengths, body)
  select array_agg(i.topic order by i.start), array_agg(i.call_id order by i.start), array_agg(i.partition_key order by i.start),
         array_agg(i.length order by i.start), string_agg(substring(p_body from i.start for i.length), ''::bytea order by i.start)
    from unnest(p_call_ids, p_topics, p_partition_keys, p_starts, p_lengths) as i (call_id, topic, partition_key, start, length)
   where i.call_id = any (changed)
  having count(*) > 0
  returning id into outgoing_id;
  select json_object_agg(i.call_id, convert_from(r.settlement, 'UTF8')) into recorded
    from unnest(p_call_ids, p_epochs) as i (call_id, epoch) join call c on c.call_id = i.call_id and pool_allowed(c.pool)
         join call_record r on r.call_id = i.call_id
   where i.epoch = 0 and i.call_id <> all (changed);
end $body$;

-- journal_sweep: takes over open rows of a pool whose lease has ended, under a new epoch and with a higher fence (J12).
create function journal_sweep(p_pool text, p_owner text, p_limit integer)
returns table (call_id text, state text, mode text, lease_epoch integer, lease_ms integer, attempts integer, repeat text,
               message bytea, fences json, settlement text, waited_ms double precision, stop_asked boolean, taken_back integer)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $body$
#variable_conflict use_column
declare
  taken text[];
begin
  perform require_pool(p_pool);
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
           (select convert_from(coalesce(n.record, s.settlement), 'UTF8')
              from operation o join call a on a.call_id = o.call_id and pool_allowed(a.pool)
                   join call_record s on s.call_id = o.call_id left join reconciliation n on n.call_id = o.call_id
             where o.tenant = c.tenant and o.tool = c.tool and o.class = c.class and o.key_hash = c.key_hash) end,
         (extract(epoch from now() - c.queued_at) * 1000)::double precision, c.stop_asked,
         (select o.taken_back from operation o
           where o.tenant = c.tenant and o.tool = c.tool and o.class = c.class and o.key_hash = c.key_hash and o.call_id = c.call_id)
    from call c join call_request q on q.call_id = c.call_id
   where c.call_id = any (taken);
end $body$;
