-- Where does what happened to breaks in a run differ from what is worked out again? $1 run, $2
-- accounts, $3 the last event of each before its first compare that was repeated, $4 the last one
-- that counted, $5 how many at most.
with told as (
  select b.account_id, b.order_no, b.kind, e.event, e.currency, e.amount, e.expected, e.actual
  from tieout.break_events e
  join tieout.breaks b using (break_id)
  join unnest($2::text[], $3::bigint[]) as begun (account_id, event)
    on begun.account_id = b.account_id
  where e.run_id = $1::bigint and e.by = 'tieout' and e.event_id > begun.event
    and e.event_id <= $4::bigint and not tieout.stands_apart(b.kind)
),
again as (
  select b.account_id, b.order_no, b.kind, e.event, e.currency, e.amount, e.expected, e.actual
  from pg_temp.break_events e join pg_temp.breaks b using (break_id)
  where e.event_id >= 1000000000000000
),
only_then as (select * from told except all select * from again),
only_now as (select * from again except all select * from told)
select coalesce(t.account_id, n.account_id) as account_id,
  coalesce(t.order_no, n.order_no) as order_no,
  'break ' || coalesce(t.kind, n.kind) || ' ' || coalesce(t.event, n.event) as what,
  case when t.order_no is not null then
    concat_ws(' ', t.amount, t.currency, t.expected, t.actual) end as then_value,
  case when n.order_no is not null then
    concat_ws(' ', n.amount, n.currency, n.expected, n.actual) end as now_value
from only_then t
full join only_now n using (account_id, order_no, kind, event)
order by 1, 2, 3
limit $5
