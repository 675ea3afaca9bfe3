-- A reconciliation workbook by its business date and revision, the accounts of its night, and what
-- is newer: the newest revision of its night, and the newest workbook of the newest night after it.
-- $1 business date, $2 revision.
with books as (
  select p.report_id, p.run_id, r.business_date, p.revision, p.written_at, p.path, p.digests
  from tieout.runs r join tieout.reports p using (run_id)
  where not r.is_dry and p.kind = 'reconciliation' and p.format = 'xlsx' and p.period is null
    and p.state = 'written' and r.business_date >= $1::date
),
newer as (
  (select business_date, revision, path from books
    where business_date = $1::date and revision > $2 order by revision desc limit 1)
  union all
  (select business_date, revision, path from books
    where business_date > $1::date order by business_date desc, revision desc limit 1)
)
select b.business_date as "businessDate", b.revision, b.written_at as "writtenAt",
  coalesce(b.digests, '{}') as digests,
  array(select ra.account_id from tieout.run_accounts ra
    where ra.run_id = b.run_id and ra.merchant_id is not null order by 1) as accounts,
  coalesce((select jsonb_agg(jsonb_build_object('file', path, 'businessDate', business_date,
    'revision', revision) order by business_date) from newer), '[]') as newer
from books b
where b.business_date = $1::date and b.revision = $2
