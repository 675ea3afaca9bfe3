-- What the checklist of a close counts, account by account: the night of the day, what is open of
-- the account now, and the dates since the newest closed one that no night covers. $1 accounts,
-- $2 business date. A night that had an account in its books alone, as one that left, is none.
select asked.account_id as "accountId", found.*
from unnest($1::text[]) as asked (account_id)
cross join lateral (
  with night as (
    select tieout.state_in_night(r.state, ra.state) as state, r.run_id
    from tieout.run_accounts ra join tieout.runs r using (run_id)
    where ra.account_id = asked.account_id and r.business_date = $2::date and not r.is_dry
      and ra.merchant_id is not null
  ),
  standing as materialized (
    select f.state, f.kind, f.currency, f.stake from tieout.break_facts f
    where f.account_id = asked.account_id and f.state in ('open', 'waived')
  ),
  standing_money as (
    select state, jsonb_agg(jsonb_build_object('currency', currency,
        'amount', round(stake, 2)::text) order by currency) as money
    from (select state, currency, sum(stake) as stake from standing
      where currency is not null and stake is not null group by state, currency) as by_currency
    group by state
  ),
  first_night as (
    select coalesce(tieout.closed_until(asked.account_id) + 1, min(ra.business_date)) as date
    from tieout.run_accounts ra join tieout.runs r using (run_id)
    where ra.account_id = asked.account_id and not r.is_dry and ra.merchant_id is not null
  ),
  book as (
    select p.report_id
    from night join tieout.reports p using (run_id)
    where p.kind = 'reconciliation' and p.format = 'xlsx' and p.period is null
      and p.state = 'written'
    order by p.revision desc limit 1
  )
  select (select state from night) as "runState",
    (select count(*) from tieout.verdicts v join night using (run_id)
      where v.account_id = asked.account_id and v.class = 'notCompared') as "notCompared",
    (select count(*) from standing where state = 'open') as "openBreaks",
    (select count(*) from standing where state = 'open' and kind = 'not_settled') as "notSettled",
    coalesce((select money from standing_money where state = 'open'), '[]') as "openMoney",
    (select count(*) from standing where state = 'open' and (currency is null or stake is null))
      as "openWithoutAmount",
    (select count(*) from standing where state = 'waived') as "waivedBreaks",
    coalesce((select money from standing_money where state = 'waived'), '[]') as "waivedMoney",
    (select count(*) from standing where state = 'waived' and (currency is null or stake is null))
      as "waivedWithoutAmount",
    (select coalesce(sum(movements), 0) from tieout.day_sums
      where account_id = asked.account_id and operation = 'suspense'
        and posted_to <= $2::date) as suspense,
    (select count(*) from tieout.instructions
      where account_id = asked.account_id and is_open and state = 'unknown') as unknown,
    (select count(*) from tieout.instructions
      where account_id = asked.account_id and is_open and state <> 'unknown') as waiting,
    coalesce((
      select jsonb_agg(day::date order by day)
      from first_night, generate_series(first_night.date, $2::date, interval '1 day') as day
      where not exists (
        select from tieout.run_accounts ra join tieout.runs r using (run_id)
        where ra.account_id = asked.account_id and not r.is_dry and ra.merchant_id is not null
          and day::date = any (r.covers))
    ), '[]') as gaps,
    (select (
        select coalesce(jsonb_agg(jsonb_build_object(
          'unexplained', jsonb_build_object('captured', round(s.unexplained_captured, 2)::text,
            'refunded', round(s.unexplained_refunded, 2)::text),
          'books', s.books)), '[]')
        from tieout.statements s
        where s.report_id = book.report_id and s.account_id = asked.account_id)
      from book) as statements
) as found
