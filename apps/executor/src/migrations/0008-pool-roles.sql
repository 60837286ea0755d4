-- R1, for all functions of the journal at once; the schema is named, and pg_temp comes last: no session can slip in tables of its own.
do $$
declare
  one regprocedure;
begin
  for one in select p.oid from pg_proc p
              where p.pronamespace = 'executor'::regnamespace and p.prokind = 'f' loop
    execute format('revoke execute on function %s from public', one);
    if one::text ~ '^(executor\.)?journal_' then
      execute format('alter function %s security definer set search_path = executor, pg_temp', one);
    end if;
  end loop;
end $$;

-- The one table that executors write themselves: messages that stand until the bus has them. Owners see all rows.
alter table outgoing enable row level security;
create policy own_topics on outgoing using (
  not exists (select from unnest(topics) t where 'countersign_pool_' || substring(t from '[^.]*$') <> session_user));

-- What a pool's role may do: the journal's functions, its own outgoing messages, and a look at which migrations are applied.
create function admit_pool_role(p_role name) returns void language plpgsql as $body$
declare
  one regprocedure;
begin
  if p_role !~ '^countersign_pool_[a-z][a-z0-9_]*$' then
    raise exception 'a role of a pool is named countersign_pool_<pool>, not %', p_role;
  end if;
  execute format('grant usage on schema executor to %I', p_role);
  execute format('grant select on executor.migration to %I', p_role);
  execute format('grant select, insert, update, delete on executor.outgoing to %I', p_role);
  for one in select p.oid from pg_proc p
              where p.pronamespace = 'executor'::regnamespace and p.prokind = 'f' and p.prosecdef loop
    execute format('grant execute on function %s to %I', one, p_role);
  end loop;
end $body$;
revoke execute on function admit_pool_role from public;
