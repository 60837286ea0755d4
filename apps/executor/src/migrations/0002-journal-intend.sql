-- journal_intend: one batch of grants, one statement, one commit (J1 J2 J3 J4 J5 J6).
-- Every transaction of the journal takes rows in the same order: call, grant_use, resource_hold, operation; sorted inside
-- each table. So two batches wait for each other at most one way.
--
-- The arrays have one entry a call, sorted by call_id, each call once.
-- p_actions   intend = act if nothing is in the way; queue = only admit the call, its owner waits for a lock
-- p_epochs    0 = a grant from the bus; else the lease epoch under which p_owner holds the queued row
-- p_holds     array literals
-- p_lengths   bytes of each call's CallGranted in p_messages, where they begin at p_starts (from 1); 0 = it is stored already
-- answer      intended | queued | wait (queued behind a hold or a running key) | replay | join | conflict
--             | stored | cancelled (before its grant came) | running | expired | epoch (of the journal, not reached) | restored (granted before a restore) | spent | lost
-- taken_back  of an intended call whose key acted before: how often that was taken back
--             One row whose call_id is null: all are intended, under epoch 1; `fences` then lists [call, resource, fence].
create function journal_intend(
  p_owner text, p_pool text, p_call_ids text[], p_tenants text[], p_actions text[], p_epochs integer[], p_decision_nos integer[],
  p_grant_digests text[], p_jtis text[], p_expires_at bigint[], p_journal_epochs integer[], p_approval_ids text[],
  p_tools text[], p_classes text[], p_key_hashes text[], p_args_digests text[], p_repeats text[], p_holds text[],
  p_lease_ms integer[], p_starts integer[], p_lengths integer[], p_messages bytea)
returns table (call_id text, answer text, lease_epoch integer, fences json, settlement text, taken_back integer)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
as $body$
#variable_conflict use_column
declare
  journal_now integer := (select epoch from journal);
  wanted_holds integer;
  taken_holds integer;
  input intent_input[];
  mine text[];
  added text[];
  acting text[];
  granted text[];
  held text[];
  known text[] := '{}';
  rest text[];
  owning text[];
  again text[];
  answering text[] := '{}';
  waiting text[];
  spent text[] := '{}';
begin
  perform require_pool(p_pool);
  -- The way of most batches: all is new and nothing is in the way. Whatever is makes it start again below, from nothing.
  if 'intend' = all (p_actions) and 0 = all (p_epochs) and journal_now = all (p_journal_epochs)
     and floor(extract(epoch from now()))::bigint < all (p_expires_at) then
    begin
      insert into call (call_id, tenant, pool, state, decision_no, grant_digest, tool, class, key_hash, args_digest, repeat,
                        holds, lease_owner, lease_until, lease_ms, attempts, intended_at)
      select i.call_id, i.tenant, p_pool, 'intended', i.decision_no, i.grant_digest, i.tool, i.class, i.key_hash,
             i.args_digest, i.repeat, i.holds::text[], p_owner, now() + i.lease_ms * interval '1 millisecond', i.lease_ms, 1, now()
        from unnest(p_call_ids, p_tenants, p_decision_nos, p_grant_digests, p_tools, p_classes, p_key_hashes,
                    p_args_digests, p_repeats, p_holds, p_lease_ms)
             as i (call_id, tenant, decision_no, grant_digest, tool, class, key_hash, args_digest, repeat, holds, lease_ms);
      insert into grant_use (jti, call_id, approval_id)
      select i.jti, i.call_id, i.approval_id
        from unnest(p_jtis, p_call_ids, p_approval_ids) as i (jti, call_id, approval_id) order by i.jti collate "C";
      if '{}' <> any (p_holds) then
        with wanted as materialized (
          select i.tenant, r.resource, i.call_id
            from unnest(p_call_ids, p_tenants, p_holds) as i (call_id, tenant, holds)
                 cross join lateral (select h collate "C" as resource from unnest(i.holds::text[]) h) r
           order by i.tenant, r.resource),
        taken as (
          insert into resource_hold as h (tenant, resource, holder, fence)
          select w.tenant, w.resource, w.call_id, 1 from wanted w
          on conflict (tenant, resource) do update set holder = excluded.holder, fence = h.fence + 1 where h.holder is null
          returning h.holder, h.resource, h.fence)
        select (select count(*) from wanted), count(*), json_agg(json_build_array(t.holder, t.resource, t.fence))
          into wanted_holds, taken_holds, fences from taken t;
        if taken_holds < wanted_holds then raise exception using errcode = 'CSHLD'; end if;
      end if;
      insert into operation (tenant, tool, class, key_hash, state, args_digest, call_id)
      select i.tenant, i.tool, i.class, i.key_hash, 'running', i.args_digest, i.call_id
        from unnest(p_call_ids, p_tenants, p_tools, p_classes, p_key_hashes, p_args_digests)
             as i (call_id, tenant, tool, class, key_hash, args_digest)
       order by i.tenant, i.tool, i.class, i.key_hash collate "C";
      insert into call_request (call_id, message)
      select i.call_id, substring(p_messages from i.start for i.length)
        from unnest(p_call_ids, p_starts, p_lengths) as i (call_id, start, length);
      answer := 'intended';
      lease_epoch := 1;
      return next;
      return;
    exception when unique_violation or cardinality_violation or sqlstate 'CSHLD' then
      fences := null;
    end;
  end if;

  input := array(
    select row(i.call_id, i.tenant, i.action, i.epoch, i.decision_no, i.grant_digest, i.jti, i.expires_at, i.journal_epoch,
               i.approval_id, i.tool, i.class, i.key_hash, i.args_digest, i.repeat, i.holds::text[], i.lease_ms)::intent_input
      from unnest(p_call_ids, p_tenants, p_actions, p_epochs, p_decision_nos, p_grant_digests, p_jtis, p_expires_at,
                  p_journal_epochs, p_approval_ids, p_tools, p_classes, p_key_hashes, p_args_digests, p_repeats, p_holds, p_lease_ms)
           as i (call_id, tenant, action, epoch, decision_no, grant_digest, jti, expires_at, journal_epoch, approval_id,
                 tool, class, key_hash, args_digest, repeat, holds, lease_ms));

  -- J1: one row per call; J8: only a grant that still lives by this clock gets further.
  with taken as (
    insert into call as c (call_id, tenant, pool, state, decision_no, grant_digest, tool, class, key_hash, args_digest, repeat,
                      holds, lease_owner, lease_epoch, lease_until, lease_ms, attempts, queued_at, intended_at)
    select i.call_id, i.tenant, p_pool, case i.action when 'queue' then 'queued' else 'intended' end, i.decision_no,
           i.grant_digest, i.tool, i.class, i.key_hash, i.args_digest, i.repeat, i.holds, p_owner, 1,
           now() + i.lease_ms * interval '1 millisecond', i.lease_ms,
           case i.action when 'queue' then 0 else 1 end,
           case i.action when 'queue' then now() end, case i.action when 'queue' then null else now() end
      from unnest(input) i
     where i.epoch = 0 and to_timestamp(i.expires_at) > now() and i.journal_epoch = journal_now
     order by i.call_id
    on conflict (call_id) do nothing
    returning c.call_id)
  select coalesce(array_agg(t.call_id), '{}') into mine from taken t;

  if cardinality(mine) < cardinality(input) then
    with taken as (
      update call c
         set state = case i.action when 'queue' then 'queued' else 'intended' end,
             mode = 'act', decision_no = i.decision_no, grant_digest = i.grant_digest, lease_owner = p_owner,
             lease_epoch = case i.epoch when 0 then c.lease_epoch + 1 else c.lease_epoch end,
             lease_until = now() + i.lease_ms * interval '1 millisecond', lease_ms = i.lease_ms,
             attempts = case i.action when 'queue' then 0 else 1 end,
             queued_at = coalesce(c.queued_at, case i.action when 'queue' then now() end),
             intended_at = case i.action when 'queue' then null else now() end
        from unnest(input) i
       where c.call_id = i.call_id and c.call_id <> all (mine)
         and to_timestamp(i.expires_at) > now() and i.journal_epoch = journal_now
         and ((c.state = 'queued' and c.lease_owner = p_owner and c.lease_epoch = i.epoch)
           or (c.state = 'returned' and i.epoch = 0 and c.decision_no < i.decision_no))
         and (c.pool = p_pool or session_user = current_user)
      returning c.call_id)
    select coalesce(array_agg(t.call_id), '{}') into added from taken t;
    mine := mine || added;
  end if;

  select coalesce(array_agg(i.call_id), '{}') into acting from unnest(input) i
   where i.call_id = any (mine) and i.action = 'intend';

  -- J2: a grant, and an approval, is used once.
  with used as (
    insert into grant_use as g (jti, call_id, approval_id)
    select i.jti, i.call_id, i.approval_id from unnest(input) i where i.call_id = any (acting) order by i.jti
    on conflict do nothing
    returning g.call_id)
  select coalesce(array_agg(u.call_id), '{}') into granted from used u;
  if cardinality(granted) < cardinality(acting) then
    spent := array(select unnest(acting) except select unnest(granted));
    delete from call c where c.call_id = any (spent);
    delete from call_request r where r.call_id = any (spent);
    mine := array(select unnest(mine) except select unnest(spent));
  end if;

  -- J5: one holder per resource; its fence grows with every holder.
  rest := granted;
  if exists (select from unnest(input) i where i.call_id = any (granted) and cardinality(i.holds) > 0) then
    -- What has ended for good is only answered (J7): it needs no hold, and must not wait for one.
    known := array(
      select i.call_id from unnest(input) i
        join operation o on o.tenant = i.tenant and o.tool = i.tool and o.class = i.class and o.key_hash = i.key_hash
       where i.call_id = any (granted) and o.state in ('succeeded', 'unknown'));
    with wanted as (
      select distinct on (i.tenant, r.resource) i.tenant, r.resource, i.call_id
        from unnest(input) i cross join lateral (select h collate "C" as resource from unnest(i.holds) h) r
       where i.call_id = any (granted) and i.call_id <> all (known)
       order by i.tenant, r.resource, i.call_id),
    taken as (
      insert into resource_hold as h (tenant, resource, holder, fence)
      select w.tenant, w.resource, w.call_id, 1 from wanted w order by w.tenant, w.resource
      on conflict (tenant, resource) do update set holder = excluded.holder, fence = h.fence + 1 where h.holder is null
      returning h.holder)
    select coalesce(array_agg(i.call_id), '{}') into held from unnest(input) i
     where i.call_id = any (granted) and i.call_id <> all (known)
       and cardinality(i.holds) = (select count(*) from taken t where t.holder = i.call_id);
    rest := held || known;
  end if;

  -- J3: one running generation per key; J4: a closed generation opens the next one.
  with taken as (
    insert into operation as o (tenant, tool, class, key_hash, state, args_digest, call_id)
    select i.tenant, i.tool, i.class, i.key_hash, 'running', i.args_digest, i.call_id from unnest(input) i
     where i.call_id = any (rest) order by i.tenant, i.tool, i.class, i.key_hash collate "C"
    on conflict do nothing
    returning o.call_id)
  select coalesce(array_agg(t.call_id), '{}') into owning from taken t;
  if cardinality(owning) < cardinality(rest) then
    with next as (
      select distinct on (i.tenant, i.tool, i.class, i.key_hash) i.* from unnest(input) i
       where i.call_id = any (rest) and i.call_id <> all (owning) and i.call_id <> all (known)
       order by i.tenant, i.tool, i.class, i.key_hash, i.call_id),
    taken as (
      update operation o
         set state = 'running', generation = o.generation + 1, args_digest = n.args_digest, call_id = n.call_id,
             replayed_by = null
        from next n
       where o.tenant = n.tenant and o.tool = n.tool and o.class = n.class and o.key_hash = n.key_hash and o.state = 'closed'
      returning o.call_id)
    select coalesce(array_agg(t.call_id), '{}') into again from taken t;
    owning := owning || again;

    -- J7: what the key already holds is answered, never done again.
    with found as (
      update call c
         set mode = case when o.args_digest <> i.args_digest then 'conflict'
                         when o.state = 'succeeded' then 'replay' else 'join' end, attempts = 0
        from unnest(input) i, operation o
       where c.call_id = i.call_id and i.call_id = any (rest) and i.call_id <> all (owning)
         and o.tenant = i.tenant and o.tool = i.tool and o.class = i.class and o.key_hash = i.key_hash
         and (o.state in ('succeeded', 'unknown') or (o.state = 'running' and o.args_digest <> i.args_digest))
      returning c.call_id)
    select coalesce(array_agg(f.call_id), '{}') into answering from found f;

    -- J15: another run relies on it from now on (a call's id names its run).
    if cardinality(answering) > 0 then
      update operation o set replayed_by = c.call_id
        from call c
       where c.call_id = any (answering) and c.mode in ('replay', 'join') and o.replayed_by is null
         and o.tenant = c.tenant and o.tool = c.tool and o.class = c.class and o.key_hash = c.key_hash
         and split_part(o.call_id, '_', 2) <> split_part(c.call_id, '_', 2);
    end if;
  end if;

  -- J6: all or nothing: who misses one thing gives the rest back in this transaction and waits as a queued row.
  if cardinality(owning) < cardinality(granted) then
    waiting := array(select unnest(granted) except select unnest(owning) except select unnest(answering));
    with back as materialized (
      select i.tenant, r.resource, i.call_id
        from unnest(input) i cross join lateral (select h collate "C" as resource from unnest(i.holds) h) r
       where i.call_id = any (granted) and i.call_id <> all (owning) order by i.tenant, r.resource)
    update resource_hold h set holder = null
      from back b where h.tenant = b.tenant and h.resource = b.resource and h.holder = b.call_id;
    delete from grant_use g using unnest(input) i where i.call_id = any (waiting) and g.jti = i.jti;
    update call c set state = 'queued', queued_at = coalesce(c.queued_at, now()), intended_at = null, attempts = 0
     where c.call_id = any (waiting);
  end if;

  insert into call_request as q (call_id, message)
  select i.call_id, substring(p_messages from i.start for i.length)
    from unnest(p_call_ids, p_starts, p_lengths) as i (call_id, start, length)
   where i.call_id = any (mine) and i.length > 0 order by i.call_id
  on conflict (call_id) do update set message = excluded.message;

  -- J14: what may be recorded as unknown is to be probed and told of; it is stored for those who look.
  if journal_now > any (p_journal_epochs) then
    insert into call_request as q (call_id, message)
    select i.call_id, substring(p_messages from i.start for i.length)
      from unnest(p_call_ids, p_journal_epochs, p_starts, p_lengths) as i (call_id, journal_epoch, start, length)
     where i.journal_epoch < journal_now and i.length > 0
       and not exists (select from call c where c.call_id = i.call_id and c.state <> 'returned') order by i.call_id
    on conflict (call_id) do nothing;
  end if;

  return query
  select i.call_id,
         case when i.call_id = any (spent) then 'spent'
              when i.call_id = any (owning) then 'intended'
              when i.call_id = any (answering) then c.mode
              when i.call_id = any (mine) then case i.action when 'queue' then 'queued' else 'wait' end
              when c.state in ('succeeded', 'failed', 'outcome_unknown') or c.settled_at is not null then 'stored'
              when c.state = 'cancelled' and i.epoch = 0 then 'cancelled'
              when i.epoch > 0 and (c.state <> 'queued' or c.lease_owner <> p_owner or c.lease_epoch <> i.epoch) then 'lost'
              when i.epoch = 0 and c.state in ('queued', 'intended') then 'running'
              when i.journal_epoch < journal_now then 'restored'
              when to_timestamp(i.expires_at) > now() and i.journal_epoch <> journal_now then 'epoch'
              when i.epoch = 0 and c.state = 'returned' or to_timestamp(i.expires_at) <= now() then 'expired'
              else 'lost' end,
         c.lease_epoch,
         case when cardinality(i.holds) > 0 and i.call_id = any (owning) then
           (select json_object_agg(h.resource, h.fence) from resource_hold h
             where h.tenant = i.tenant and h.resource = any (i.holds) and h.holder = i.call_id) end,
         case when c.mode = 'replay' and i.call_id = any (answering) then
           (select convert_from(coalesce(n.record, s.settlement), 'UTF8')
              from operation o join call a on a.call_id = o.call_id and pool_allowed(a.pool)
                   join call_record s on s.call_id = o.call_id left join reconciliation n on n.call_id = o.call_id
             where o.tenant = i.tenant and o.tool = i.tool and o.class = i.class and o.key_hash = i.key_hash)
              when c.settled_at is not null and pool_allowed(c.pool) then
           (select convert_from(s.settlement, 'UTF8') from call_record s where s.call_id = i.call_id) end,
         case when i.call_id = any (again) then
           (select o.taken_back from operation o
             where o.tenant = i.tenant and o.tool = i.tool and o.class = i.class and o.key_hash = i.key_hash) end
    from unnest(input) i left join call c on c.call_id = i.call_id;
end $body$;
