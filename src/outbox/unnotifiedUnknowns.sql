-- Instructions that are unknown for long and of which nobody was told: since when, and the event
-- that made them so, by which a message tells of them once.
-- $1 unknown since before. One row an instruction, oldest first.
select i.instruction_id, i.account_id, i.operation, i.currency,
  case when i.is_in_totals then round(coalesce(i.refund_amount, i.amount), 2)::text end as amount,
  e.at as since,
  e.seq as event_seq
from tieout.instructions i
cross join lateral (
  select seq, at from tieout.instruction_events
  where instruction_id = i.instruction_id and to_state = 'unknown'
  order by seq desc limit 1
) e
where i.is_open and i.state = 'unknown' and e.at < $1::timestamptz
  and not exists (
    select from tieout.outbox o
    where o.event = 'unknown_waits' and o.about @> array[e.seq])
order by e.seq
