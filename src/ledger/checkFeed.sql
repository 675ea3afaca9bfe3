-- Does the ledger hold what its feed says it has brought? Only accounts that have control totals,
-- from the first date they state, or had some when the ledger was read last. $1 run, $2 accounts,
-- $3 dates covered, $4 zone, $5 cut-off, $6 time of the snapshot. Answers one row a date and
-- currency, equal ones too.
with line as materialized (
  -- A view's columns may be of any types that read as these; a date that is none states nothing.
  select c.account_id::text collate "C" as account_id,
    (tieout.instant_in(left(c.business_date::text, 10) || 'T00:00:00Z') at time zone 'UTC')::date
      as business_date,
    coalesce(left(c.currency::text, 16), '') as currency, tieout.amount_in(c.count) as count,
    tieout.amount_in(c.amount) as amount, tieout.instant_in(c.complete_at) as complete_at
  from ledger.control_totals c where c.account_id::text collate "C" = any ($2::text[])
),
used as materialized (
  select account_id, min(business_date) as first_date from line
  where business_date is not null group by account_id
  union all
  -- gone, as after a feed that broke off before it wrote any
  select kept.account_id, kept.first_date from tieout.kept_totals($2) kept
  where kept.account_id not in (select account_id from line where business_date is not null)
),
day as materialized (
  select u.account_id, d.date, (d.date + $5::time) at time zone $4 as starts_at,
    (d.date + 1 + $5::time) at time zone $4 as ends_at
  from used u cross join unnest($3::date[]) as d (date)
  where d.date >= u.first_date
),
held as materialized (
  -- an amount that is none adds nothing, so that the two sides differ
  select day.account_id, day.date, coalesce(l.currency, '') as currency, count(*) as count,
    coalesce(sum(l.amount), 0) as amount
  from day
  join tieout.ledger_orders('{}', '{}', '') l on l.account_id collate "C" = day.account_id
    and l.placed_at >= day.starts_at and l.placed_at < day.ends_at
  group by day.account_id, day.date, coalesce(l.currency, '')
),
stated as materialized (
  -- one that a view has twice, or that is no figure, is not finished
  select day.account_id, day.date, c.currency,
    case when count(*) = 1 and min(c.count) >= 0 and min(c.count) < 1e18
      and min(c.count) = trunc(min(c.count)) then min(c.count)::bigint end as count,
    case when count(*) = 1 and min(c.amount) >= 0 and min(c.amount) < 1e24 then min(c.amount) end
      as amount, max(c.complete_at) as complete_at
  from day
  join line c on c.account_id = day.account_id and c.business_date = day.date
  group by day.account_id, day.date, c.currency
),
compared as (
  select account_id, date, currency, s.count as stated_count, s.amount as stated_amount,
    coalesce(h.count, 0) as ledger_count, coalesce(h.amount, 0) as ledger_amount,
    case
      when s.account_id is null then 'absent'
      when s.count is null or s.amount is null or s.complete_at is null
        or s.complete_at > $6::timestamptz then 'unfinished'
      when s.count = coalesce(h.count, 0) and s.amount = coalesce(h.amount, 0) then 'equal'
      else 'different' end as verdict
  from stated s full join held h using (account_id, date, currency)
  union all
  select account_id, date, '', null, null, 0, 0, 'absent' from day
  where not exists (select from stated s where s.account_id = day.account_id
    and s.date = day.date)
    and not exists (select from held h where h.account_id = day.account_id and h.date = day.date
      and h.currency = '')
),
forgotten as (
  delete from tieout.feed_checks f where f.run_id = $1::bigint and f.account_id = any ($2)
    and f.verdict <> 'unusable'
    and (f.account_id, f.business_date, f.currency) not in (
      select account_id, date, currency from compared)
)
insert into tieout.feed_checks (run_id, account_id, business_date, currency, verdict, stated_count,
  stated_amount, ledger_count, ledger_amount, checked_at)
select $1, account_id, date, coalesce(currency, ''), verdict, stated_count, stated_amount,
  ledger_count, ledger_amount, $6
from compared
on conflict (run_id, account_id, business_date, currency) do update set
  verdict = excluded.verdict, stated_count = excluded.stated_count,
  stated_amount = excluded.stated_amount, ledger_count = excluded.ledger_count,
  ledger_amount = excluded.ledger_amount, checked_at = excluded.checked_at
