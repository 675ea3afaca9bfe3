-- Up Migration
-- What people gave back of a transaction through `tieout gateway refund`, or perhaps did, up to a
-- look; null where nobody did. The book of movements takes a request's word for the amount of a
-- part that went elsewhere, unless this contradicts it.
create function tieout.refunded_by_hand(account text, transaction text, look bigint)
returns numeric language sql stable as $$
  select sum((e ->> 'refund_amount')::numeric)
  from tieout.gateway_calls c
  cross join jsonb_array_elements(c.entries) e
  where c.entries @> jsonb_build_array(jsonb_build_object('transaction_id', transaction))
    and c.account_id = account and c.operation = 'refund'
    and coalesce(c.outcome, '') not in ('rejected', 'not_sent')
    and c.at <= (select as_of from tieout.pulls where pull_id = look)
    and e ->> 'transaction_id' = transaction
    and e ->> 'refund_amount' ~ '^[0-9]{1,18}[.][0-9]{2}$'
$$;

-- Down Migration
drop function tieout.refunded_by_hand;
