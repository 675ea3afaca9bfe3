-- Money of a business date that was sent, or proved to have moved, after its night had ended: by
-- account, operation, currency, the date on which it counts and whether the newest workbook of the
-- night has it. One that was asked for before is without it, also where it was written later. $1
-- accounts, $2 business date.
select ra.account_id as "accountId", m.operation, m.currency,
  round(sum(m.amount), 2)::text as amount, m.counts_on as "countsOn",
  m.posted_at <= coalesce(least(book.created_at, book.written_at), '-infinity') as "isStated"
from tieout.runs r
join tieout.run_accounts ra on ra.run_id = r.run_id and ra.account_id = any ($1::text[])
cross join lateral tieout.moved_after(r.run_id, ra.account_id) m
left join lateral (
  select p.created_at, p.written_at from tieout.reports p
  where p.run_id = r.run_id and p.kind = 'reconciliation' and p.format = 'xlsx'
    and p.period is null and p.state = 'written'
  order by p.revision desc limit 1
) book on true
where r.business_date = $2::date and not r.is_dry
  -- of a date before, its own day says it
  and m.belongs_to = r.business_date
group by ra.account_id, m.counts_on, "isStated", m.currency, m.operation
order by ra.account_id, m.counts_on, "isStated", m.currency, m.operation
