-- The run before of each account of a run, as the run took its open breaks over, and the newest
-- revision of its workbook that stood as the run ended, else of those since. $1 run, $2 accounts.
select ra.account_id as "accountId", earlier.business_date::text as "businessDate",
  (select coalesce(max(p.revision) filter (where p.written_at <= run.finished_at), max(p.revision))
    from tieout.reports p
    where p.run_id = earlier.run_id and p.kind = 'reconciliation' and p.format = 'xlsx'
      and p.period is null and p.state = 'written') as revision
from tieout.run_accounts ra
join tieout.runs run using (run_id)
left join lateral (
  select e.run_id, e.business_date
  from tieout.run_accounts e join tieout.runs r using (run_id)
  where not r.is_dry and e.account_id = ra.account_id and e.business_date < ra.business_date
    and e.events_until is not null and ra.events_after > 0
  order by e.business_date desc limit 1
) earlier on true
where ra.run_id = $1::bigint and ra.account_id = any ($2::text[])
order by ra.account_id
