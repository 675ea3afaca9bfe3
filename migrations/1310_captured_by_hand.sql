-- Up Migration
-- What a person captured by hand (`tieout gateway capture`) is taken by us as what tieout captured:
-- where the gateway shows the authorised amount, nothing else tells that it was a part. Looks from
-- before this did not weigh it: such a night is worked out again as it was.
alter table tieout.pulls add column weighs_calls boolean;
alter table tieout.pulls alter column weighs_calls set default true;

-- Captures by hand of what an entry names ('[{}]': all), as far as a look could know of them; null:
-- as they are now. What was accepted is added up; where nothing was, the last one counts that may
-- have been.
create function tieout.captured_by_hand(entry jsonb, look bigint)
returns table (account_id text, order_no text, transaction_id text, currency text, amount numeric)
language sql stable rows 10 as $$
  select c.account_id, e ->> 'order_no', e ->> 'transaction_id', min(e ->> 'currency'),
    coalesce(sum((e ->> 'amount')::numeric) filter (where c.outcome = 'accepted'),
      (array_agg((e ->> 'amount')::numeric order by c.call_id desc))[1])
  from tieout.gateway_calls c
  cross join jsonb_array_elements(c.entries) e
  left join tieout.pulls p on p.pull_id = look
  where c.operation = 'capture' and coalesce(c.outcome, '') not in ('rejected', 'not_sent')
    and c.entries @> entry and e @> (entry -> 0)
    and e ->> 'amount' ~ '^[0-9]{1,18}[.][0-9]{2}$'
    and case when look is null then true
      when p.weighs_calls is not true then false
      -- one that may still be answered will have been made behind the look
      when c.outcome is null then c.at < p.as_of - interval '10 minutes'
      else coalesce(c.looks_before, 0) < tieout.drawn_as(look) end
  group by 1, 2, 3
$$;

create or replace function tieout.doubles(of_account text, of_order text, of_operation text,
  by text, of_refund text, money numeric, of_currency text)
returns table (reason text)
language sql stable rows 1 as $$
  (select 'second_capture'
   from tieout.instructions i
   where of_operation = 'capture' and i.account_id = of_account and i.order_no = of_order
     and i.operation = 'capture' and i.state = 'confirmed' and i.transaction_id <> by
   limit 1)
  union all
  (select 'moved_already'
   from tieout.instructions i
   where of_operation in ('capture', 'cancel') and i.account_id = of_account
     and i.order_no = of_order and i.transaction_id = by and i.state = 'confirmed'
     and i.operation in ('capture', 'cancel')
   limit 1)
  union all
  (select case of_operation when 'refund' then 'shared_refund' else 'shared_transaction' end
   from tieout.instructions i
   where i.transaction_id = by and i.operation <> 'payout' and not i.is_void
     and (i.account_id = of_account) <> (i.order_no = of_order)
     and case when i.account_id <> of_account
         then replace(i.operation, 'cancel', 'capture') = replace(of_operation, 'cancel', 'capture')
       when of_operation = 'refund' then i.operation = 'refund'
       else (of_operation, i.operation) in (('capture', 'cancel'), ('cancel', 'capture')) end
   limit 1)
  union all
  (select 'by_hand'
   from tieout.gateway_calls c
   where (c.account_id = of_account
       or c.entries @> jsonb_build_array(jsonb_build_object('transaction_id', by)))
     and replace(c.operation, 'cancel', 'capture') = replace(of_operation, 'cancel', 'capture')
     and (c.outcome is null or c.outcome not in ('rejected', 'not_sent'))
     -- the contrary of it only of this very transaction: the other of two may be let go by hand
     and c.entries @> any (array[
       case when c.operation = of_operation
         then jsonb_build_array(jsonb_build_object('order_no', of_order)) end,
       jsonb_build_array(jsonb_build_object('transaction_id', by))])
   limit 1)
  union all
  (select twin.reason
   from (
     select 'twin_request' as reason
     from tieout.instructions i
     where of_operation = 'refund' and i.account_id = of_account and i.order_no = of_order
       and i.operation = 'refund' and i.refund_id <> of_refund
       and case when i.state = 'rejected' or i.is_refused then i.replan_id is null
           and (i.refund_amount = money
             or tieout.plain_id(i.refund_id) = tieout.plain_id(of_refund))
         else not i.is_void and tieout.plain_id(i.refund_id) = tieout.plain_id(of_refund) end
     union all
     select 'twin_request' as reason
     from tieout.instructions i
     where of_operation = 'refund' and i.operation = 'refund' and i.refund_id = of_refund
       and (i.state = 'rejected' or i.is_refused) and i.replan_id is null
       and (i.account_id, i.order_no, i.transaction_id) <> (of_account, of_order, by)
       -- another shop may number its requests alike
       and (i.account_id = of_account or i.transaction_id = by or i.refund_amount = money)
     union all
     select 'twin_request' as reason
     from tieout.instructions i
     where of_operation in ('capture', 'cancel') and i.operation = of_operation
       and i.operation in ('capture', 'cancel') and i.transaction_id = by
       and (i.state = 'rejected' or i.is_refused) and i.replan_id is null
       and (i.account_id, i.order_no) <> (of_account, of_order)
   ) twin limit 1)
  union all
  (select 'over_captured'
   from (
     select min(i.amount) as amount, bool_or(i.currency <> of_currency) as is_foreign
     from tieout.instructions i
     where of_operation = 'refund'
       and i.operation = 'capture' and i.state = 'confirmed' and i.transaction_id = by
       and not i.is_void -- by which it is found
     union all
     select sum(h.amount), bool_or(h.currency <> of_currency)
     from tieout.captured_by_hand(
       jsonb_build_array(jsonb_build_object('transaction_id', by)), null) h
     where of_operation = 'refund'
   ) taken
   where amount is not null
   having count(*) > 0 and (bool_or(is_foreign) or exists (
     select from tieout.instructions other
     where other.transaction_id = by and other.operation = 'refund' and not other.is_void
       and other.currency <> of_currency
     ) or sum(amount) < money + coalesce((
     select sum(paid.refund_amount) from tieout.instructions paid
     where paid.transaction_id = by and paid.operation = 'refund' and not paid.is_void
       and (paid.account_id, paid.refund_id) <> (of_account, of_refund)), 0)))
$$;

-- Down Migration
create or replace function tieout.doubles(of_account text, of_order text, of_operation text,
  by text, of_refund text, money numeric, of_currency text)
returns table (reason text)
language sql stable rows 1 as $$
  (select 'second_capture'
   from tieout.instructions i
   where of_operation = 'capture' and i.account_id = of_account and i.order_no = of_order
     and i.operation = 'capture' and i.state = 'confirmed' and i.transaction_id <> by
   limit 1)
  union all
  (select 'moved_already'
   from tieout.instructions i
   where of_operation in ('capture', 'cancel') and i.account_id = of_account
     and i.order_no = of_order and i.transaction_id = by and i.state = 'confirmed'
     and i.operation in ('capture', 'cancel')
   limit 1)
  union all
  (select case of_operation when 'refund' then 'shared_refund' else 'shared_transaction' end
   from tieout.instructions i
   where i.transaction_id = by and i.operation <> 'payout' and not i.is_void
     and (i.account_id = of_account) <> (i.order_no = of_order)
     and case when i.account_id <> of_account
         then replace(i.operation, 'cancel', 'capture') = replace(of_operation, 'cancel', 'capture')
       when of_operation = 'refund' then i.operation = 'refund'
       else (of_operation, i.operation) in (('capture', 'cancel'), ('cancel', 'capture')) end
   limit 1)
  union all
  (select 'by_hand'
   from tieout.gateway_calls c
   where (c.account_id = of_account
       or c.entries @> jsonb_build_array(jsonb_build_object('transaction_id', by)))
     and replace(c.operation, 'cancel', 'capture') = replace(of_operation, 'cancel', 'capture')
     and (c.outcome is null or c.outcome not in ('rejected', 'not_sent'))
     -- the contrary of it only of this very transaction: the other of two may be let go by hand
     and c.entries @> any (array[
       case when c.operation = of_operation
         then jsonb_build_array(jsonb_build_object('order_no', of_order)) end,
       jsonb_build_array(jsonb_build_object('transaction_id', by))])
   limit 1)
  union all
  (select twin.reason
   from (
     select 'twin_request' as reason
     from tieout.instructions i
     where of_operation = 'refund' and i.account_id = of_account and i.order_no = of_order
       and i.operation = 'refund' and i.refund_id <> of_refund
       and case when i.state = 'rejected' or i.is_refused then i.replan_id is null
           and (i.refund_amount = money
             or tieout.plain_id(i.refund_id) = tieout.plain_id(of_refund))
         else not i.is_void and tieout.plain_id(i.refund_id) = tieout.plain_id(of_refund) end
     union all
     select 'twin_request' as reason
     from tieout.instructions i
     where of_operation = 'refund' and i.operation = 'refund' and i.refund_id = of_refund
       and (i.state = 'rejected' or i.is_refused) and i.replan_id is null
       and (i.account_id, i.order_no, i.transaction_id) <> (of_account, of_order, by)
       -- another shop may number its requests alike
       and (i.account_id = of_account or i.transaction_id = by or i.refund_amount = money)
     union all
     select 'twin_request' as reason
     from tieout.instructions i
     where of_operation in ('capture', 'cancel') and i.operation = of_operation
       and i.operation in ('capture', 'cancel') and i.transaction_id = by
       and (i.state = 'rejected' or i.is_refused) and i.replan_id is null
       and (i.account_id, i.order_no) <> (of_account, of_order)
   ) twin limit 1)
  union all
  (select 'over_captured'
   from tieout.instructions i
   where of_operation = 'refund'
     and i.operation = 'capture' and i.state = 'confirmed' and i.transaction_id = by
     and not i.is_void -- by which it is found
     and (i.currency <> of_currency or exists (
       select from tieout.instructions other
       where other.transaction_id = by and other.operation = 'refund' and not other.is_void
         and other.currency <> of_currency
       ) or i.amount < money + coalesce((
       select sum(paid.refund_amount) from tieout.instructions paid
       where paid.transaction_id = by and paid.operation = 'refund' and not paid.is_void
         and (paid.account_id, paid.refund_id) <> (of_account, of_refund)), 0))
   limit 1)
$$;

drop function tieout.captured_by_hand;
alter table tieout.pulls drop column weighs_calls;
