-- All that happened to a break, oldest first, with what was at stake as both sides stood then. $1
-- break.
select e.at, r.business_date as "businessDate", e.event, e.by, e.is_claim as "isClaim",
  e.reason, e.cause, e.decided_over as "decidedOver", e.expected, e.actual, e.currency,
  round(coalesce(tieout.break_money(b.kind, e.currency, e.expected, e.actual), e.amount), 2)::text
    as amount
from tieout.break_events e
join tieout.breaks b using (break_id)
left join tieout.runs r using (run_id)
where e.break_id = $1 order by e.event_id
