-- The figures of business days by account and currency. What a day opens with is everything before
-- it, so that it ties to what the day before closed with. $1 accounts, $2 from, $3 to.
-- Reads what the movements of each day come to (tieout.day_sums), never the movements. What was
-- made elsewhere stands in columns of its own; `book_begins` is null where no book is kept.
with summed as materialized (
  select * from tieout.day_sums where account_id = any ($1) and posted_to <= $3::date
),
currency as (
  select account_id, currency,
    coalesce(sum(case when operation in ('capture', 'captured_elsewhere') then amount
        when operation in ('refund', 'refunded_elsewhere') then -amount end)
      filter (where posted_to < $2::date), 0) as opening,
    coalesce(sum(movements) filter (where operation = 'suspense' and posted_to < $2::date), 0)
      as suspense_before
  from summed group by account_id, currency
),
posted as (
  select account_id, currency, posted_to as business_date,
    sum(amount) filter (where operation = 'capture' and not is_late) as captured,
    sum(amount) filter (where operation = 'refund' and not is_late) as refunded,
    -- memos: in no sum, and so late ones too
    sum(amount) filter (where operation = 'cancel') as cancelled,
    sum(amount) filter (where operation = 'payout') as paid_out,
    sum(case operation when 'capture' then amount when 'refund' then -amount end)
      filter (where is_late) as adjustments,
    sum(amount) filter (where operation = 'cancel' and is_late) as cancelled_late,
    sum(movements) filter (where operation = 'capture' and not is_late) as captures,
    sum(movements) filter (where operation = 'refund' and not is_late) as refunds,
    sum(movements) filter (where operation = 'cancel') as cancels,
    sum(movements) filter (where operation = 'payout') as payouts,
    sum(movements) filter (where is_late) as late,
    sum(amount) filter (where operation = 'captured_elsewhere') as captured_elsewhere,
    sum(amount) filter (where operation = 'refunded_elsewhere') as refunded_elsewhere,
    sum(movements) filter (where operation = 'suspense') as suspense
  from summed where posted_to >= $2
  group by account_id, currency, posted_to
),
day as materialized (
  select ra.account_id, r.business_date, r.settings -> 'schedule' ->> 'timezone' as timezone,
    r.settings -> 'schedule' ->> 'cutOff' as cut_off, ra.as_of,
    tieout.state_in_night(r.state, ra.state) as run_state,
    tieout.day_state(ra.account_id, r.business_date) as state
  from tieout.run_accounts ra join tieout.runs r using (run_id)
  where not r.is_dry and ra.account_id = any ($1) and ra.business_date between $2 and $3
    and ra.merchant_id is not null
),
dated as (
  select account_id, business_date from day
  union select account_id, business_date from posted
),
rolled as (
  select d.account_id, d.business_date, c.currency, p.captured, p.refunded, p.cancelled,
    p.adjustments, p.cancelled_late, p.paid_out, p.captures, p.refunds, p.cancels,
    p.payouts, p.late, p.captured_elsewhere, p.refunded_elsewhere,
    c.suspense_before + sum(coalesce(p.suspense, 0)) over so_far as suspense,
    c.opening + sum(coalesce(p.captured, 0) - coalesce(p.refunded, 0) + coalesce(p.adjustments, 0)
      + coalesce(p.captured_elsewhere, 0) - coalesce(p.refunded_elsewhere, 0))
      over so_far as closing
  from dated d
  join currency c using (account_id)
  left join posted p using (account_id, currency, business_date)
  window so_far as (partition by d.account_id, c.currency order by d.business_date)
)
select r.account_id, r.business_date, r.currency, day.timezone, day.cut_off, day.as_of,
  day.run_state, coalesce(day.state, tieout.day_state(r.account_id, r.business_date)) as state,
  round(closing - coalesce(captured, 0) + coalesce(refunded, 0) - coalesce(adjustments, 0)
    - coalesce(captured_elsewhere, 0) + coalesce(refunded_elsewhere, 0), 2)::text as opening,
  round(coalesce(captured, 0), 2)::text as captured,
  round(coalesce(refunded, 0), 2)::text as refunded,
  round(coalesce(adjustments, 0), 2)::text as adjustments,
  round(closing, 2)::text as closing,
  round(coalesce(cancelled, 0), 2)::text as cancelled,
  round(coalesce(cancelled_late, 0), 2)::text as cancelled_late,
  round(coalesce(paid_out, 0), 2)::text as paid_out,
  coalesce(captures, 0)::bigint as captures, coalesce(refunds, 0)::bigint as refunds,
  coalesce(cancels, 0)::bigint as cancels, coalesce(payouts, 0)::bigint as payouts,
  coalesce(late, 0)::bigint as late,
  round(coalesce(captured_elsewhere, 0), 2)::text as captured_elsewhere,
  round(coalesce(refunded_elsewhere, 0), 2)::text as refunded_elsewhere,
  suspense::bigint as suspense, b.begins as book_begins
from rolled r
left join day using (account_id, business_date)
left join tieout.movement_books b using (account_id)
order by r.account_id, r.business_date, r.currency
