-- Orders of accounts that are not configured: nobody looks at them. By account, how many of the
-- look-back. $1 accounts that are configured or told of otherwise, $2 start of the look-back.
select account_id, count(*) as orders, min(left(order_no, 64)) as sample
from tieout.ledger_orders('{}', '{}', '')
where account_id <> all ($1::text[]) and account_id <> '' and placed_at >= $2::timestamptz
group by account_id
order by account_id
