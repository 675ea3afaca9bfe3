-- What people did to breaks between two steps of the run. $1 after this event, $2 up to this one.
update pg_temp.breaks b
set state = e.state
from (
  select distinct on (break_id) break_id,
    case event when 'waived' then 'waived' when 'resolved' then 'resolved' else 'open' end as state
  from pg_temp.break_events
  where event_id > $1::bigint and event_id <= $2::bigint
    and event in ('waived', 'reopened', 'resolved', 'opened')
  order by break_id, event_id desc
) e
where e.break_id = b.break_id
