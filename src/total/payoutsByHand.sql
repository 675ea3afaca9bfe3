-- Payouts that a person called by hand and of which nobody wrote down how they ended: no look shows
-- a payout. The newest first, so many of each account, with how many there are; for so many days
-- from the call, and not while it may still be answered. $1 accounts, $2 limit, $3 days.
select account_id, call_id, called_by, at, outcome, request_id, amount, currency, found
from (
  select c.account_id, c.call_id, c.called_by, c.at, c.outcome,
    lower(e ->> 'request_id') as request_id,
    e ->> 'payment_amount' as amount, e ->> 'payment_currency' as currency,
    count(*) over (partition by c.account_id) as found,
    row_number() over (partition by c.account_id order by c.call_id desc) as place
  from tieout.gateway_calls c cross join jsonb_array_elements(c.entries) e
  where c.account_id = any ($1::text[]) and c.operation = 'payout'
    and c.at > now() - make_interval(days => $3::int)
    and (c.outcome in ('unknown', 'pending')
      or c.outcome is null and c.at < now() - interval '10 minutes')
) told
where place <= $2::bigint
order by account_id, place
