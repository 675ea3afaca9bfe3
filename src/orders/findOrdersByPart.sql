-- Orders of the ledger of which a part of the number is known, or that name this transaction, in
-- any case of letters. $1 accounts, $2 the part, $3 at most so many. It goes through the ledger:
-- asked where nothing has exactly this number.
select o.account_id::text as "accountId", o.order_no::text as "orderNo",
  case when position(lower($2) in lower(o.order_no::text)) > 0 then 'part' else 'transaction' end
    as by
from ledger.orders o
where o.account_id::text = any ($1) and o.order_no is not null
  and (position(lower($2) in lower(o.order_no::text)) > 0
    or lower(o.transaction_id::text) = lower($2))
order by o.order_no::text, o.account_id::text limit $3
