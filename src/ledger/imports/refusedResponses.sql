-- Payment responses that do not fit the ledger, or one another. $1 limit.
select r.file_no, "column", value, reason
from (
  select r.*, o.account_id is not null as known, o.currency as held_currency,
    o.amount as held_amount, o.transaction_id as held_transaction,
    first_value(r.transaction_id) over same as first_transaction
  from import_response r
  left join ledger.orders o on o.account_id = r.account_id and o.order_no = r.order_no
  window same as (partition by r.account_id, r.order_no order by r.file_no)
) r
cross join lateral (values
  (1, not known, 'order_no', order_no, 'the ledger has no such order of ' || account_id),
  (2, currency <> held_currency, 'currency', currency, 'the ledger has ' || held_currency),
  (3, amount <> held_amount, 'amount', amount::text, 'the ledger has ' || held_amount),
  (4, transaction_id <> held_transaction, 'transaction_id', transaction_id,
    'the ledger names another transaction: ' || held_transaction),
  (5, transaction_id <> first_transaction, 'transaction_id', transaction_id,
    'another response of this order names ' || first_transaction)
) as rule (nth, broken, "column", value, reason)
where broken
order by r.file_no, nth
limit $1
