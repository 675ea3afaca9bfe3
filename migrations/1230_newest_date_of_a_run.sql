-- Up Migration
-- A date since which one of its accounts was run for a later one is history: an account that was
-- not in it joined all the same, and the figures of the others were worked out anew as of today.
create function tieout.newest_date(accounts text[], day date)
returns date language sql stable
as $function$
  select greatest((
    select max(ra.business_date)
    from tieout.run_accounts ra join tieout.runs r using (run_id)
    where ra.account_id = any (accounts) and ra.merchant_id is not null and not r.is_dry
  ), (
    select max(ra.business_date)
    from tieout.run_accounts of_day join tieout.runs o using (run_id)
    join tieout.run_accounts ra on ra.account_id = of_day.account_id
    join tieout.runs r on r.run_id = ra.run_id
    where o.business_date = day and not o.is_dry and not r.is_dry
      -- one that left stands in the books of each night
      and of_day.merchant_id is not null and ra.merchant_id is not null))
$function$;

-- Down Migration
drop function tieout.newest_date(text[], date);
