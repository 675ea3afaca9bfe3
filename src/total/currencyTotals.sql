-- The money of a run by account and currency: what was confirmed in it, and what nobody can say.
-- $1 run, $2 json [{account_id, currency}]: what the ledger has orders in; it is listed with zeros
-- where nothing moved. Payouts count where their unit is known, in a column of their own; so does
-- what they cost, in the currency of the fee.
with account as (
  select account_id from :run_accounts where run_id = $1::bigint
),
currency as (
  select account_id, currency
  from jsonb_to_recordset($2::jsonb) as c (account_id text, currency text)
),
money as (
  select account_id, currency,
    sum(amount) filter (where operation = 'capture' and state = 'confirmed') as captured,
    sum(amount) filter (where operation = 'cancel' and state = 'confirmed') as cancelled,
    sum(refund_amount) filter (where operation = 'refund' and state = 'confirmed') as refunded,
    sum(amount) filter (where operation = 'payout' and state = 'confirmed') as paid_out,
    sum(coalesce(refund_amount, amount)) filter (
      where state in ('unknown', 'accepted') and operation <> 'review') as unknown
  from account
  join :instructions i using (account_id)
  where i.is_in_totals
    and ((i.state = 'confirmed' and i.settled_run_id = $1) or (i.is_open and (
      i.state = 'unknown'
      -- nor can anybody say it of what was accepted, until a snapshot shows it; none shows a
      -- payout, of which the gateway said that it is done, or that it is not done yet
      or i.state = 'accepted'
        and (i.operation <> 'payout' or i.payout_answer ->> 'meaning' = 'pending'))))
  group by account_id, currency
),
fee as (
  select account_id, i.payout_answer ->> 'fee_currency' as currency,
    sum((i.payout_answer ->> 'fee')::numeric) as payout_fees
  from account
  join :instructions i using (account_id)
  where i.operation = 'payout' and i.state = 'confirmed' and i.settled_run_id = $1
    and i.is_in_totals and i.payout_answer ->> 'fee' is not null
  group by 1, 2 having sum((i.payout_answer ->> 'fee')::numeric) <> 0
)
select account_id, currency,
  round(coalesce(captured, 0), 2)::text as captured,
  round(coalesce(cancelled, 0), 2)::text as cancelled,
  round(coalesce(refunded, 0), 2)::text as refunded,
  round(paid_out, 2)::text as "paidOut",
  round(payout_fees, 2)::text as "payoutFees",
  round(coalesce(captured, 0) - coalesce(refunded, 0), 2)::text as net,
  round(coalesce(unknown, 0), 2)::text as unknown
from currency
full join money using (account_id, currency)
full join fee using (account_id, currency)
order by account_id, currency
