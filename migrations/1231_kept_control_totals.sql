-- Up Migration
-- Which accounts had control totals as the ledger was read last, and from which date on: those have
-- none now because a feed broke off, or a view forgets them. Null: of the newest run's accounts.
create function tieout.kept_totals(accounts text[])
returns table (account_id text, first_date date) language sql stable
as $function$
  select newest.account_id, min(f.business_date)
  from (
    select distinct on (ra.account_id) ra.account_id, ra.run_id
    from tieout.run_accounts ra join tieout.runs r using (run_id)
    where ra.account_id = any (coalesce(accounts, array(
        select own.account_id from tieout.run_accounts own
        where own.merchant_id is not null and own.run_id = (
          select last.run_id from tieout.runs last
          where not last.is_dry order by last.business_date desc limit 1))))
      and ra.pull_id is not null
      and not r.is_dry
    order by ra.account_id, ra.business_date desc) newest
  join tieout.feed_checks f on f.run_id = newest.run_id and f.account_id = newest.account_id
  where f.verdict <> 'unusable'
  group by newest.account_id
$function$;

-- Down Migration
drop function tieout.kept_totals(text[]);
