-- Rows of the ledger that nobody can be asked about and nothing can be done with, since they name
-- no order, no request or no account: how many, and one of them. A refund request without an order
-- is none of them: it is a break. $1 accounts of the run.
select relation, account_id, count(*) as rows, min(sample) as sample
from (
  select 'orders' as relation, coalesce(left(account_id, 64), '') as account_id,
    case when octet_length(order_no) > 512 then 'order_no ' || left(order_no, 40) || '...'
      else concat_ws(' ', left(nullif(order_no, ''), 64), amount::text, currency,
        'placed at ' || placed_at) end as sample
  from tieout.ledger_orders('{}', '{}', '')
  where coalesce(account_id, '') = '' or order_no is null or octet_length(order_no) > 512
  union all
  select 'refund_requests', '', concat_ws(' ', left(refund_id, 64), left(order_no, 64),
    refund_amount::text)
  from tieout.ledger_refunds()
  where coalesce(account_id, '') = ''
  union all
  select 'payout_requests', coalesce(left(account_id, 64), ''),
    case when octet_length(request_id) > 64 then 'request_id ' || left(request_id, 40) || '...'
      else concat_ws(' ', nullif(request_id, ''), 'requested at ' || requested_at) end
  from tieout.ledger_payouts()
  where coalesce(account_id, '') = '' or coalesce(request_id, '') = ''
    or octet_length(request_id) > 64
  union all
  select 'disputes', coalesce(left(account_id, 64), ''), concat_ws(' ', left(dispute_id, 64),
    left(order_no, 64), amount::text, currency)
  from tieout.ledger_disputes()
  where coalesce(account_id, '') = '' or coalesce(order_no, transaction_id, '') = ''
) as row
where account_id = '' or account_id = any ($1::text[])
group by relation, account_id
order by relation, account_id
