-- Up Migration
-- What went back of a transaction, or perhaps did, that no instruction here tells of, up to a look:
-- through `tieout gateway refund`, and by permits that a journal names and a database that was put
-- back has lost (each request once, however often it was tried); null where nothing is known. The
-- book of movements takes a request's word for the amount of a part that went elsewhere, unless
-- this contradicts it.
create function tieout.refunded_beside(account text, transaction text, look bigint)
returns numeric language sql stable as $$
  select sum(amount)
  from (
    select (e ->> 'refund_amount')::numeric as amount
    from tieout.gateway_calls c
    cross join jsonb_array_elements(c.entries) e
    where c.entries @> jsonb_build_array(jsonb_build_object('transaction_id', transaction))
      and c.account_id = account and c.operation = 'refund'
      and coalesce(c.outcome, '') not in ('rejected', 'not_sent')
      and c.at <= (select as_of from tieout.pulls where pull_id = look)
      and e ->> 'transaction_id' = transaction
      and e ->> 'refund_amount' ~ '^[0-9]{1,18}[.][0-9]{2}$'
    union all
    (select distinct on (coalesce(l.refund_id, l.attempt_id::text)) l.amount::numeric
      from tieout.lost_permits l
      where l.account_id = account and l.operation = 'refund' and l.transaction_id = transaction
        and l.found_at <= (select as_of from tieout.pulls where pull_id = look)
        and l.amount ~ '^[0-9]{1,18}[.][0-9]{2}$'
      order by coalesce(l.refund_id, l.attempt_id::text), l.sent_at desc)
  ) as beside
$$;
drop function tieout.refunded_by_hand;

-- Down Migration
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
drop function tieout.refunded_beside;
