-- Settlement batches with lines from before the end of a business date that came after a revision
-- of its workbook was written, so that its statement is without them: after the newest one, and of
-- a closed day after the one that it was closed on, whether before the close or since. $1 accounts,
-- $2 business dates, $3 batches that are named at most, $4 lines whose money is summed at most.
with workbook as materialized (
  select r.run_id, p.revision,
    -- what came before this is in it
    least(p.created_at, p.written_at) as until,
    p.revision = max(p.revision) over (partition by p.run_id) as is_newest
  from tieout.runs r join tieout.reports p using (run_id)
  where r.business_date = any ($2::date[]) and not r.is_dry and p.kind = 'reconciliation'
    and p.format = 'xlsx' and p.period is null and p.state = 'written'
),
signed as materialized (
  select s.account_id, d.business_date, closed.at, closed.revision
  from unnest($2::date[]) as d (business_date)
  cross join lateral tieout.day_signings(d.business_date, $1::text[]) s
  cross join lateral (
    select (one.event ->> 'at')::timestamptz as at, (one.event ->> 'revision')::int as revision
    from jsonb_array_elements(s.events) with ordinality as one (event, ord)
    where one.event ->> 'event' = 'closed'
    order by one.ord desc limit 1
  ) closed
),
night as materialized (
  select ra.account_id, r.business_date, r.ends_at, newest.until as newest_until,
    -- of one that was closed without a workbook all that came since
    coalesce(own.until, signed.at) as signed_until
  from tieout.runs r
  join tieout.run_accounts ra on ra.run_id = r.run_id and ra.account_id = any ($1::text[])
    and ra.merchant_id is not null
  left join workbook newest on newest.run_id = r.run_id and newest.is_newest
  left join signed on signed.account_id = ra.account_id
    and signed.business_date = r.business_date
  left join workbook own on own.run_id = r.run_id and own.revision = signed.revision
  where r.business_date = any ($2::date[]) and not r.is_dry
),
late as materialized (
  select n.account_id, n.business_date, n.ends_at, t.batch, t.currency, t.lines,
    coalesce(f.imported_at <= n.newest_until, false) as is_stated,
    coalesce(f.imported_at > n.signed_until, false) as is_since
  from night n
  join tieout.settlement_batches t on t.account_id = n.account_id
    and t.first_booked_at < n.ends_at
  join tieout.settlement_files f on f.file_id = t.file_id
    and f.imported_at > least(n.newest_until, n.signed_until)
),
counted as materialized (
  select account_id, business_date, count(distinct batch) filter (where not is_stated) as batches,
    (array_agg(distinct batch order by batch) filter (where not is_stated))[1:$3::int] as named,
    coalesce(sum(lines) filter (where not is_stated), 0) <= $4::bigint as is_summed
  from late group by account_id, business_date
)
select c.account_id as "accountId", c.business_date as "businessDate", c.batches::int as batches,
  coalesce(c.named, '{}') as named, money.sums as money, coalesce(since.changes, '[]') as changes
from counted c
cross join lateral (
  -- in the order's currency, as the statement has it; null: too many of them
  select case when c.is_summed then coalesce(jsonb_agg(jsonb_build_object('kind', kind,
    'currency', currency, 'amount', round(amount, 2)::text) order by kind, currency), '[]') end
    as sums
  from (
    select l.type as kind, l.currency, abs(sum(l.amount)) as amount
    from late t
    join tieout.settlement_lines l on l.account_id = t.account_id and l.batch = t.batch
      and l.settle_currency = t.currency
    where t.account_id = c.account_id and t.business_date = c.business_date and c.is_summed
      and not t.is_stated and l.type in ('captured', 'refunded') and l.booked_at < t.ends_at
    group by l.type, l.currency
  ) sums
) money
cross join lateral (
  select jsonb_agg(jsonb_build_object('accountId', c.account_id, 'what', 'batches',
    'currency', currency, 'count', batches, 'isStated', is_stated) order by currency, is_stated)
    as changes
  from (
    select currency, is_stated, count(*) as batches from late
    where account_id = c.account_id and business_date = c.business_date and is_since
    group by currency, is_stated
  ) change
) since
