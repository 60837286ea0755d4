-- Access to runs by their keys. As functions, because a plan that was made while the table was small is kept by a
-- connection until the next analyze: without these settings it would read the whole, quickly growing table meanwhile.

-- Locks the runs in the order of their ids, so that two reducers never wait for each other.
create function lock_runs(ids text[]) returns setof run
language plpgsql
set enable_seqscan = off
as $body$
begin
  return query select * from run r where r.run_id = any(ids) order by r.run_id for update;
end
$body$;

-- Writes what became of runs that the caller's transaction has locked. wake_at in seconds since the epoch.
create function save_runs(ids text[], statuses text[], states text[], wakes double precision[]) returns void
language plpgsql
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $body$
begin
  update run r
     set status = u.status, state = u.state::json, version = r.version + 1,
         wake_at = to_timestamp(u.wake_at), updated_at = now()
    from unnest(ids, statuses, states, wakes) as u (run_id, status, state, wake_at)
   where r.run_id = u.run_id;
end
$body$;

-- Locks runs whose timer is due by the database's clock, except those that another process has in work.
create function claim_due_runs(most integer) returns setof run
language plpgsql
set enable_seqscan = off
as $body$
begin
  return query select * from run r where r.wake_at <= now() order by r.wake_at limit most for update skip locked;
end
$body$;
