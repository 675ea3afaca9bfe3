-- Writes the lines of orders that are new, or say something new.
insert into ledger.orders (account_id, order_no, currency, amount, expected, transaction_id,
  capture_amount, review_decision, placed_at, updated_at)
select account_id, order_no, currency, amount, expected, transaction_id,
  capture_amount, review_decision, placed_at, updated_at
from import_fate
where fate in ('inserted', 'updated')
on conflict (account_id, order_no) do update set
  currency = excluded.currency,
  amount = excluded.amount,
  expected = excluded.expected,
  transaction_id = excluded.transaction_id,
  capture_amount = excluded.capture_amount,
  review_decision = excluded.review_decision,
  placed_at = excluded.placed_at,
  updated_at = excluded.updated_at
