-- Money of a business date that was sent, or proved to have moved, after its night had ended: by
-- account, operation, currency and the date on which it counts. The statement of that night is
-- without it, and its day is not. $1 accounts, $2 business date.
select d.account_id as "accountId", d.operation, d.currency,
  round(sum(d.amount), 2)::text as amount, d.posted_to as "countsOn"
from tieout.runs r
join tieout.run_accounts ra on ra.run_id = r.run_id and ra.account_id = any ($1::text[])
join tieout.day_movements d on d.account_id = ra.account_id and d.posted_to >= r.business_date
  and d.belongs_to = r.business_date and d.operation in ('capture', 'refund')
join tieout.instructions i using (instruction_id)
where r.business_date = $2::date and not r.is_dry and i.settled_at > r.finished_at
group by d.account_id, d.posted_to, d.currency, d.operation
order by d.account_id, d.posted_to, d.currency, d.operation
