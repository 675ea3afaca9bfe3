-- Orders of the ledger of which a part of the number is known, in any case of letters, or that name
-- this transaction. $1 accounts, $2 the part, $3 at most so many, $4 the part in the cases in which
-- a transaction may be spelled. The ledger may be a view of the merchant's, so that no index of
-- ours helps: it goes through all of it, where nothing has exactly this number.
select o.account_id::text as "accountId", o.order_no::text as "orderNo",
  case when position(lower($2) in lower(o.order_no::text collate "default")) > 0
    then 'part' else 'transaction' end as by
from ledger.orders o
where o.account_id::text collate "C" = any ($1) and o.order_no is not null
  and (position(lower($2) in lower(o.order_no::text collate "default")) > 0
    or o.transaction_id::text collate "C" = any ($4))
order by o.order_no::text collate "C", o.account_id::text collate "C" limit $3
