import type { Database } from '#persistence';

/**
 * Unlogged: taking a lock writes no log and waits for no disk, and a crash of the server frees every lock,
 * which costs time, never correctness (G6).
 */
export async function createLockTable(database: Database): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query({
      text: `select pg_advisory_xact_lock(hashtextextended('countersign-locks/' || $1, 0))`,
      values: [database.schema],
    });
    await tx.query({ text: `create schema if not exists ${database.schema}` });
    await tx.query({
      text: `create unlogged table if not exists resource_lock (
               resource text collate "C" primary key,
               owner text not null,
               until timestamptz not null
             ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500)`,
    });
    await tx.query({ text: TAKE });
  });
}

/**
 * Each request in turn, each all or none; answers the numbers (from 0) of those that hold everything they asked for.
 * Requests come in sorted order of resources, so that two statements never wait for each other.
 */
const TAKE = `
create or replace function take_locks(p_requests json) returns setof integer language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $body$
declare
  request record;
  taken integer;
begin
  for request in
    select n, resources, owner, ttl from json_to_recordset(p_requests) as r (n integer, resources text[], owner text, ttl integer)
  loop
    with got as (
      insert into resource_lock as l (resource, owner, until)
      select resource, request.owner, now() + request.ttl * interval '1 millisecond'
        from unnest(request.resources) resource order by resource collate "C"
      on conflict (resource) do update set owner = excluded.owner, until = excluded.until
        where l.until <= now() or l.owner = excluded.owner
      returning 1)
    select count(*) into taken from got;
    if taken = cardinality(request.resources) then
      return next request.n;
    elsif taken > 0 then
      delete from resource_lock l where l.resource = any (request.resources) and l.owner = request.owner;
    end if;
  end loop;
end $body$`;
