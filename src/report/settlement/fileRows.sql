-- The files that brought batches with lines in a period, by currency: their control totals as they
-- were counted when they were taken, and the same of what is kept of them now. Gross is that of the
-- lines that are no payouts; the totals on record have the payouts in it, so they are put back. $1
-- accounts, $2 settlement.from, $3 cut-off, $4 timezone, $5 first and $6 last date.
with since as (select ($2::date + $3::time) at time zone $4 as at),
file as materialized (
  select distinct b.file_id
  from tieout.settlement_batches b
  cross join since
  where b.account_id = any ($1) and tieout.is_in_books(b, since.at)
    and tieout.business_date_of(b.last_booked_at, $3::time, $4) >= $5
    and tieout.business_date_of(b.first_booked_at, $3::time, $4) <= $6
),
kept as (
  select b.file_id, b.currency, sum(l.gross) as gross, sum(l.fees) as fees,
    sum(case when b.has_payout then l.paid_out else l.net end) as payout, sum(l.lines) as lines,
    coalesce(sum(b.payout) filter (where b.has_payout), 0) as payout_lines
  from tieout.settlement_batches b
  join file using (file_id)
  cross join lateral (
    select count(*) as lines, sum(fee) as fees,
      coalesce(sum(gross) filter (where type <> 'payout'), 0) as gross, sum(net) as net,
      -sum(gross) filter (where type = 'payout') as paid_out
    from tieout.settlement_lines l
    where l.account_id = b.account_id and l.batch = b.batch and l.settle_currency = b.currency
  ) l
  group by b.file_id, b.currency
)
select f.name, f.sha256, f.map_sha256 as "mapSha256", array_to_string(f.accounts, ', ') as accounts,
  f.imported_at as "importedAt", k.currency,
  coalesce((t.said ->> 'lines')::int, 0) as lines, k.lines::int as "linesKept",
  round(coalesce((t.said ->> 'gross')::numeric, 0) + k.payout_lines, 2)::text as gross,
  round(k.gross, 2)::text as "grossKept",
  round(coalesce((t.said ->> 'fees')::numeric, 0), 2)::text as fees,
  round(k.fees, 2)::text as "feesKept",
  round(coalesce((t.said ->> 'payout')::numeric, 0), 2)::text as payout,
  round(k.payout, 2)::text as "payoutKept"
from kept k
join tieout.settlement_files f using (file_id)
cross join lateral (select f.totals -> k.currency as said) t
order by f.imported_at, f.file_id, k.currency
