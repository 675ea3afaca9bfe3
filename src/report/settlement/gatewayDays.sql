-- What moved at the gateway by business date, account and currency: a movement stands in the date
-- that first saw it, what became known of its amount in the date of that, a settled line in the
-- date on which it was booked, but never before what it settles, or a month would open below zero;
-- nothing before settlement.from. What was before the period is one row without a date. $1
-- accounts, $2 settlement.from, $3 cut-off, $4 timezone, $5 first and $6 last date of the period.
with since as (select ($2::date + $3::time) at time zone $4 as at),
event as (
  select m.account_id, m.currency, m.business_date as day, m.kind || ' ' || m.made as what,
    coalesce(m.amount, 0) as amount, (m.amount is null)::int as suspense
  from tieout.movements m
  where m.account_id = any ($1) and not m.is_history and m.business_date <= $6
  union all
  select m.account_id, m.currency, a.business_date, m.kind || ' ' || m.made, a.change, a.suspense
  from tieout.movement_amounts a
  join tieout.movements m using (movement_id)
  where m.account_id = any ($1) and not m.is_history and a.business_date <= $6
  union all
  select l.account_id, l.currency,
    greatest(tieout.business_date_of(l.booked_at, $3::time, $4), m.business_date), 'settled',
    l.amount, 0
  from tieout.settlement_lines l
  left join tieout.settlement_matches t using (settlement_line_id)
  left join tieout.movements m using (movement_id)
  cross join since
  where l.account_id = any ($1) and l.type in ('captured', 'refunded')
    and not coalesce(m.is_history, l.booked_at < since.at)
    and greatest(tieout.business_date_of(l.booked_at, $3::time, $4), m.business_date) <= $6
),
dated as (
  select account_id, currency, what, amount, suspense,
    case when greatest(day, $2::date) >= $5 then greatest(day, $2::date) end as day
  from event
)
select account_id as "accountId", currency, day::text as on,
  round(coalesce(sum(amount) filter (where what = 'captured here'), 0), 2)::text
    as "capturedHere",
  round(coalesce(sum(amount) filter (where what = 'captured elsewhere'), 0), 2)::text
    as "capturedElsewhere",
  round(coalesce(sum(amount) filter (where what = 'refunded here'), 0), 2)::text
    as "refundedHere",
  round(coalesce(sum(amount) filter (where what = 'refunded elsewhere'), 0), 2)::text
    as "refundedElsewhere",
  round(coalesce(sum(amount) filter (where what = 'settled'), 0), 2)::text as settled,
  sum(suspense)::int as suspense
from dated
group by account_id, currency, day
order by account_id, currency, day nulls first
