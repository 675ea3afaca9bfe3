-- The batches of a period: what their lines of its dates come to, and what they paid out in it. $1
-- accounts, $2 settlement.from, $3 cut-off, $4 timezone, $5 first and $6 last date.
select d.account_id as "accountId", d.batch, d.currency,
  tieout.business_date_of(b.first_booked_at, $3::time, $4)::text as "firstOn",
  tieout.business_date_of(b.last_booked_at, $3::time, $4)::text as "lastOn",
  sum(d.lines)::int as lines, round(sum(d.gross), 2)::text as gross,
  round(sum(d.fees), 2)::text as fees, round(sum(d.chargebacks), 2)::text as chargebacks,
  round(sum(d.other), 2)::text as other, round(sum(d.paid_out), 2)::text as "paidOut",
  '0.00' as arrived, 'expected' as state, f.name as "fileName"
from tieout.batch_days($1, $2::date, $3::time, $4) d
join tieout.settlement_batches b using (account_id, batch, currency)
join tieout.settlement_files f using (file_id)
where d.day between $5 and $6
group by d.account_id, d.batch, d.currency, b.first_booked_at, b.last_booked_at, f.name
order by d.account_id, b.last_booked_at, d.batch, d.currency
