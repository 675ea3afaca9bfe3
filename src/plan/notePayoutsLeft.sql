-- Requests of payouts, paid or not, that the ledger has no more: when that was first seen. One that
-- is back has not left. $1 accounts, $2 now.
with there as materialized (
  select distinct account_id collate "C" as account_id, request_id from tieout.ledger_payouts()
  where account_id collate "C" = any ($1::text[])
),
-- Asked of the set as a whole, also where nobody has counted yet how many there are.
back as (
  delete from tieout.payouts_left
  where ((account_id, request_id) in (select account_id, request_id from there)) is true
)
insert into tieout.payouts_left (account_id, request_id, left_at)
select distinct i.account_id, i.transaction_id, $2::timestamptz
from tieout.instructions i
where i.operation = 'payout' and i.account_id = any ($1)
  and ((i.account_id, i.transaction_id) in (
    select account_id, request_id from there)) is not true
  and not exists (select from tieout.payouts_left l
    where l.account_id = i.account_id and l.request_id = i.transaction_id)
on conflict do nothing
