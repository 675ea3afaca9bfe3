-- What the closings at the end of a date are made of, item by item, oldest first: as
-- settlement/openItems.sql, with what had moved, become known and been booked by then. A line that
-- was booked before a look saw its movement counts from that date on. $1 accounts, $2
-- settlement.from, $3 cut-off, $4 timezone, $5 the date, $6 movements up to this date are overdue.
with since as (select ($2::date + $3::time) at time zone $4 as at),
known as (
  select movement_id, sum(change) as change, sum(suspense) as suspense
  from tieout.movement_amounts where business_date <= $5 group by movement_id
),
movement as materialized (
  select m.movement_id, m.account_id, m.currency, m.kind, m.order_no, m.transaction_id,
    m.business_date, coalesce(m.amount, 0) + coalesce(k.change, 0) as amount,
    (m.amount is null)::int + coalesce(k.suspense, 0) > 0 as in_suspense
  from tieout.movements m
  left join known k using (movement_id)
  where m.account_id = any ($1) and not m.is_history and m.business_date <= $5
),
line as materialized (
  select l.account_id, l.currency, l.amount, l.type, l.order_no, l.transaction_id, l.batch,
    greatest(tieout.business_date_of(l.booked_at, $3::time, $4), m.business_date) as booked_on,
    t.movement_id
  from tieout.settlement_lines l
  left join tieout.settlement_matches t using (settlement_line_id)
  left join tieout.movements m using (movement_id)
  cross join since
  where l.account_id = any ($1) and l.type in ('captured', 'refunded')
    and not coalesce(m.is_history, l.booked_at < since.at)
    and greatest(tieout.business_date_of(l.booked_at, $3::time, $4), m.business_date) <= $5
),
told as (
  select movement_id, currency, sum(amount) as amount
  from line where movement_id is not null group by movement_id, currency
),
batch as materialized (
  select account_id, batch, currency,
    sum(gross - fees - chargebacks + other - paid_out) filter (where day <= $5) as payable,
    sum(paid_out) filter (where day <= $5) as paid_out, min(day) as began,
    max(day) filter (where paid_out <> 0 and day <= $5) as paid_on, max(day) <= $5 as is_over
  from tieout.batch_days($1, $2::date, $3::time, $4)
  group by account_id, batch, currency
  having min(day) <= $5
),
item as (
  select 'atGateway' as book, m.account_id, m.currency,
    case m.kind when 'captured' then m.amount else -m.amount end - coalesce(t.amount, 0) as amount,
    m.kind as what, m.order_no, m.transaction_id, null::text as batch, m.business_date as since,
    t.movement_id is null and m.business_date <= $6 as is_overdue, m.in_suspense
  from movement m
  left join told t using (movement_id, currency)
  where m.amount <> 0 or m.in_suspense
  union all
  select 'atGateway', l.account_id, l.currency, -l.amount, 'settled ' || l.type, l.order_no,
    l.transaction_id, l.batch, l.booked_on, false, false
  from line l
  left join movement m on m.movement_id = l.movement_id and m.currency = l.currency
    and (m.amount <> 0 or m.in_suspense)
  where m.movement_id is null
  union all
  -- A batch that is over has to come to nothing: what is left of it is a difference and no item.
  select 'payable', account_id, currency, payable, 'settled, not paid out', null, null, batch,
    began, false, false
  from batch where not is_over
  union all
  select 'bank', account_id, currency, paid_out, 'payout', null, null, batch, paid_on, false, false
  from batch
)
select book, account_id as "accountId", currency, round(amount, 2)::text as amount, what,
  order_no as "orderNo", transaction_id as "transactionId", batch, since::text as since,
  is_overdue as "isOverdue", in_suspense as "inSuspense"
from item
where amount <> 0 or in_suspense
order by book, account_id, currency, since, order_no, batch
