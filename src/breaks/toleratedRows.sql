-- What the tolerance swallowed of a run, order by order, largest difference first. $1 run, $2
-- limit, $3 offset.
select v.account_id as "accountId", v.order_no as "orderNo", r.business_date as "businessDate",
  v.class, v.ledger_currency as currency,
  jsonb_strip_nulls(jsonb_build_object('state', v.expected, 'currency', v.ledger_currency,
    'amount', coalesce(v.to_take, v.ledger_amount)::text)) as expected,
  jsonb_strip_nulls(jsonb_build_object('state', v.gateway_state, 'code', v.payment_status,
    'currency', v.gateway_currency, 'amount', coalesce(v.taken, v.gateway_amount)::text,
    'transaction', v.transaction_id)) as actual,
  difference::text as difference
from tieout.verdicts v
join tieout.runs r using (run_id)
cross join lateral tieout.tolerated_difference(v.taken, v.gateway_amount, v.to_take,
  v.ledger_amount) as difference
where v.run_id = $1 and v.tolerated
order by abs(difference) desc, v.account_id, v.order_no
limit $2 offset $3
