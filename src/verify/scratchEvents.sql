-- What happened to breaks that is given, not worked out again: everything before the first compare
-- that is repeated, and later on what people did. $1 run, $2 the last event before that compare,
-- $3 the last one that the figures of the run counted.
insert into pg_temp.break_events
select e.*
from tieout.break_events e
join tieout.breaks b using (break_id)
join pg_temp.run_accounts a on a.account_id = b.account_id
where e.event_id > a.events_after and e.event_id <= $3::bigint
  and (e.event_id <= $2::bigint or e.run_id is distinct from $1::bigint or e.by <> 'tieout')
