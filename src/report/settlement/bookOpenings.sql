-- What was payable, and paid out and not arrived, before a period. $1 accounts, $2 settlement.from,
-- $3 cut-off, $4 timezone, $5 first date of the period.
select account_id as "accountId", currency,
  round(sum(gross - fees - chargebacks + other - paid_out), 2)::text as payable,
  round(sum(paid_out), 2)::text as bank
from tieout.batch_days($1, $2::date, $3::time, $4)
where day < $5
group by account_id, currency
order by account_id, currency
