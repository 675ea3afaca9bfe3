-- What happened to breaks that is given, not worked out again: everything of an account before its
-- first compare that is repeated, and later on what people did and what no compare does. $1 run, $2
-- accounts, $3 the last event of each before that compare, $4 the last one that the figures of the
-- run counted.
insert into pg_temp.break_events
select e.*
from tieout.break_events e
join tieout.breaks b using (break_id)
join pg_temp.run_accounts a on a.account_id = b.account_id
left join unnest($2::text[], $3::bigint[]) as begun (account_id, event)
  on begun.account_id = b.account_id
where e.event_id > a.events_after and e.event_id <= $4::bigint
  and (begun.event is null or e.event_id <= begun.event
    or e.run_id is distinct from $1::bigint or e.by <> 'tieout' or tieout.stands_apart(b.kind))
