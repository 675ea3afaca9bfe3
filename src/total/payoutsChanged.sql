-- Payouts that were sent and whose request asks for something else by now: nothing is sent for it,
-- and no snapshot shows a payout. $1 accounts, $2 how many are named of each, the newest; with how
-- many there are.
select "accountId", "requestId", "instructionId", sent, asked, requests
from (
  select i.account_id as "accountId", i.transaction_id as "requestId",
    i.instruction_id::text as "instructionId",
    nullif(concat_ws(' ', i.payload ->> 'payment_amount', i.payload ->> 'payment_currency'), '')
      as sent,
    nullif(concat_ws(' ', p.payload ->> 'payment_amount', p.payload ->> 'payment_currency'), '')
      as asked,
    count(*) over (partition by i.account_id)::int as requests,
    row_number() over (partition by i.account_id order by i.instruction_id desc) as place
  from tieout.instructions i
  join tieout.ledger_payouts() p
    on p.account_id collate "C" = i.account_id and p.request_id = i.transaction_id
  where i.operation = 'payout' and i.account_id = any ($1::text[]) and not i.is_void
    and i.state in ('sending', 'accepted', 'unknown', 'confirmed')
    and p.problem is null and p.payload <> i.payload
) as changed
where place <= $2::int
order by "accountId", place
