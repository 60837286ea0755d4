-- What is kept of calls that are over (J16 of adapters/journal.repository.ts): two functions, so that what is left of a record is
-- written by the code that knows its shape. Records that are whole are walked by their key: the walk ends with the retention.

-- The next whole records, in order; `settlement` of those alone whose time is over.
create function journal_whole(p_pool text, p_after text, p_limit integer, p_keep_ms double precision)
returns table (call_id text, settlement text) language plpgsql as $body$
#variable_conflict use_column
begin
  perform require_pool(p_pool);
  return query
  select r.call_id,
         case when c.pool = p_pool and c.state in ('succeeded', 'failed', 'cancelled')
                   and c.settled_at < now() - p_keep_ms * interval '1 millisecond'
              then convert_from(r.settlement, 'UTF8') end
    from (select w.call_id, w.settlement from call_result w where w.call_id > p_after order by w.call_id limit p_limit) r
         join call c on c.call_id = r.call_id
   order by r.call_id;
end $body$;

-- One commit: the request goes, the summary takes the record's place. Another replica that was first leaves nothing to do.
create function journal_shrink(p_pool text, p_call_ids text[], p_settlements text[]) returns integer language plpgsql as $body$
declare
  shrunk integer;
begin
  perform require_pool(p_pool);
  with gone as (
    delete from call_result r using call c
     where r.call_id = any (p_call_ids) and c.call_id = r.call_id and c.pool = p_pool
       and c.state in ('succeeded', 'failed', 'cancelled') and c.settled_at is not null
    returning r.call_id),
  requests as (
    delete from call_request q using gone g where q.call_id = g.call_id)
  insert into call_summary (call_id, settlement)
  select g.call_id, convert_to(i.settlement, 'UTF8')
    from gone g join unnest(p_call_ids, p_settlements) as i (call_id, settlement) on i.call_id = g.call_id;
  get diagnostics shrunk = row_count;
  return shrunk;
end $body$;
