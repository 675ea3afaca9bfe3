-- The breaks that were open at the end of a run, as its events tell, oldest first. $1 run.
with latest as (
  select distinct on (b.break_id) b.account_id, b.order_no, b.kind, b.first_seen, b.owner, b.note,
    e.event, e.expected, e.actual, e.currency, e.amount
  from tieout.run_accounts a
  join tieout.breaks b using (account_id)
  join tieout.break_events e on e.break_id = b.break_id
    and (a.events_until is null or e.event_id <= a.events_until)
  where a.run_id = $1::bigint and e.event in ('opened', 'reopened', 'resolved', 'waived')
  order by b.break_id, e.event_id desc
)
select account_id, order_no, kind, first_seen, owner, note, expected, actual, currency,
  amount::text as stake
from latest where event in ('opened', 'reopened')
order by first_seen, account_id, order_no, kind
