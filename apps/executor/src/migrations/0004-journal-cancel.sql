-- journal_cancel: calls that are to be cancelled, one statement (J13). Against an intent of the same call exactly one wins:
-- both write the call's one row, whoever comes second finds it taken.
-- The arrays have one entry a call, sorted by call_id, each call once.
-- p_stops   tell a running tool to stop
-- answer    cancelled (its settlement is to be written; message = its stored CallGranted, null where no grant has come yet)
--           | intended | settled (settlement = what stands) | foreign (another tenant's or pool's: untouched)
create function journal_cancel(p_pool text, p_call_ids text[], p_tenants text[], p_stops boolean[])
returns table (call_id text, answer text, message bytea, settlement text)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $body$
#variable_conflict use_column
begin
  perform require_pool(p_pool);
  insert into call as c (call_id, tenant, pool, state, decision_no, grant_digest, tool, class, key_hash, args_digest, repeat, lease_ms)
  select i.call_id, i.tenant, p_pool, 'cancelled', 0, '', '', 'call', '', '', 'none', 0
    from unnest(p_call_ids, p_tenants) as i (call_id, tenant) order by i.call_id
  on conflict (call_id) do update set state = 'cancelled', mode = 'act', lease_owner = null, lease_until = null,
    -- The right to settle a returned call is policy's: nobody is told before another grant comes.
    grant_digest = case c.state when 'queued' then c.grant_digest else '' end
   where c.state in ('queued', 'returned') and c.tenant = excluded.tenant and c.pool = excluded.pool;

  update call c set stop_asked = true
    from unnest(p_call_ids, p_tenants, p_stops) as i (call_id, tenant, stop)
   where i.stop and c.call_id = i.call_id and c.tenant = i.tenant and c.pool = p_pool and c.state = 'intended' and not c.stop_asked;

  return query
  select i.call_id,
         case when c.tenant <> i.tenant or c.pool <> p_pool then 'foreign'
              when c.settled_at is not null then 'settled'
              when c.state = 'cancelled' then 'cancelled'
              else 'intended' end,
         case when c.state = 'cancelled' and c.settled_at is null and c.grant_digest <> '' then q.message end,
         convert_from(r.settlement, 'UTF8')
    from unnest(p_call_ids, p_tenants) as i (call_id, tenant)
    join call c on c.call_id = i.call_id
    left join call_request q on q.call_id = i.call_id
    left join call_record r on r.call_id = i.call_id and c.tenant = i.tenant and c.pool = p_pool;
end $body$;
