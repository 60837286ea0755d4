-- Who may do what in the journal. Whoever holds a role of a pool, `countersign_pool_<pool>`, may execute the journal's functions
-- and touch no table of it; they act for its own pool alone. The owner of the schema acts for all pools.
--
-- R1 every function that reads or changes the journal is SECURITY DEFINER with a fixed search_path, and not for PUBLIC;
-- R2 what a function does for a pool, or to a row of a pool, it does only where pool_allowed says so; it asks session_user, which
--    no statement of a session can change without the right to;
--    An undo under a pool's role leaves the key of an original of another pool as it is: repeats are answered, not done again.
-- R3 holds and operations are shared by all pools: that is where writers of one resource, and repeats of one key, meet.

-- Only inside a function that runs as the owner: there current_user is the owner.
create function pool_allowed(p_pool text) returns boolean language sql stable
as $$ select session_user = current_user or session_user = 'countersign_pool_' || p_pool $$;

create function require_pool(p_pool text, p_topics text[] default '{}') returns void language plpgsql stable
as $body$
begin
  if session_user = current_user then return; end if;
  if session_user <> 'countersign_pool_' || p_pool
     or exists (select from unnest(p_topics) t where t <> 'call.settled.' || p_pool) then
    raise exception 'the role % may not act for pool %', session_user, p_pool using errcode = 'insufficient_privilege';
  end if;
end $body$;

create function journal_look_up(p_call_ids text[], p_jtis text[], p_expires_at bigint[])
returns table (n integer, state text, grant_digest text, settlement text, used_by text, expired boolean)
language plpgsql as $body$
#variable_conflict use_column
begin
  return query
  select i.n::int, c.state, c.grant_digest, convert_from(r.settlement, 'UTF8'), g.call_id,
         coalesce(to_timestamp(i.expires_at) <= now(), false)
    from unnest(p_call_ids, p_jtis, p_expires_at) with ordinality as i (call_id, jti, expires_at, n)
    left join call c on c.call_id = i.call_id and pool_allowed(c.pool)
    left join call_record r on r.call_id = c.call_id
    left join grant_use g on g.jti = i.jti
   order by i.n;
end $body$;

create function journal_renew(p_owner text, p_call_ids text[], p_epochs integer[])
returns table (call_id text, stop_asked boolean) language plpgsql as $body$
#variable_conflict use_column
begin
  return query
  update call c set lease_until = now() + c.lease_ms * interval '1 millisecond'
    from unnest(p_call_ids, p_epochs) as i (call_id, epoch)
   where c.call_id = i.call_id and c.lease_epoch = i.epoch and c.lease_owner = p_owner and pool_allowed(c.pool)
  returning c.call_id, c.stop_asked;
end $body$;

create function journal_give_up(p_owner text, p_call_ids text[], p_epochs integer[]) returns void language plpgsql as $body$
begin
  update call c set lease_until = now()
    from unnest(p_call_ids, p_epochs) as i (call_id, epoch)
   where c.call_id = i.call_id and c.lease_epoch = i.epoch and c.lease_owner = p_owner and c.state = 'queued'
     and pool_allowed(c.pool);
end $body$;

create function journal_return(p_owner text, p_call_id text, p_epoch integer) returns boolean language plpgsql as $body$
begin
  update call c set state = 'returned', lease_owner = null, lease_until = null
   where c.call_id = p_call_id and c.lease_epoch = p_epoch and c.lease_owner = p_owner and c.state = 'queued'
     and pool_allowed(c.pool);
  return found;
end $body$;

-- An undo that succeeded closes the generation of the operation that it took back, in its own commit.
create function journal_settle_undos(
  p_owner text, p_pool text, p_call_ids text[], p_epochs integer[], p_states text[], p_operations text[], p_keep_holds boolean[],
  p_tenants text[], p_decision_nos integer[], p_grant_digests text[], p_tools text[], p_classes text[], p_key_hashes text[],
  p_args_digests text[], p_topics text[], p_partition_keys text[], p_starts integer[], p_lengths integer[], p_body bytea,
  p_undo_tenants text[], p_undo_calls text[], p_undoes text[],
  out outgoing_id bigint, out changed text[], out recorded json)
language plpgsql as $body$
begin
  select s.outgoing_id, s.changed, s.recorded into outgoing_id, changed, recorded
    from journal_settle(p_owner, p_pool, p_call_ids, p_epochs, p_states, p_operations, p_keep_holds, p_tenants, p_decision_nos,
                        p_grant_digests, p_tools, p_classes, p_key_hashes, p_args_digests, p_topics, p_partition_keys, p_starts,
                        p_lengths, p_body) s;
  update operation o set state = 'closed', taken_back = o.taken_back + 1
    from unnest(p_undo_tenants, p_undo_calls, p_undoes) as u (tenant, call_id, undoes)
         join call c on c.call_id = u.undoes and c.tenant = u.tenant and pool_allowed(c.pool)
   where (journal_settle_undos.changed is null or u.call_id = any (journal_settle_undos.changed))
     and o.tenant = c.tenant and o.tool = c.tool and o.class = c.class and o.key_hash = c.key_hash
     and o.call_id = c.call_id and o.state = 'succeeded';
end $body$;
