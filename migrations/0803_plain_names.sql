-- Up Migration
-- Characters that look alike are the same in a name and in the id of a refund: a file from another
-- system may write them otherwise, and blanks of any kind with them.
create function tieout.without_lookalikes(words text)
returns text language sql immutable as $$
  select case when getdatabaseencoding() = 'UTF8' then normalize(words, nfkc) else words end
$$;
create function tieout.plain_id(id text)
returns text language sql immutable as $$
  select lower(regexp_replace(tieout.without_lookalikes(id), '\s+', '', 'g'))
$$;
create or replace function tieout.is_same_person(one text, other text)
returns boolean
language sql
immutable
as $$
  select lower(regexp_replace(btrim(tieout.without_lookalikes(one)), '\s+', ' ', 'g'))
    = lower(regexp_replace(btrim(tieout.without_lookalikes(other)), '\s+', ' ', 'g'))
$$;
create or replace function tieout.doubled(of_account text, of_order text, of_operation text,
  by text, of_refund text, money numeric)
returns table(reason text)
language sql
stable ROWS 1
as $$
  select 'second_capture'
  from tieout.instructions i
  where of_operation = 'capture' and i.account_id = of_account and i.order_no = of_order
    and i.operation = 'capture' and i.state = 'confirmed' and i.transaction_id <> by
  union all
  select 'moved_already'
  from tieout.instructions i
  where of_operation in ('capture', 'cancel') and i.account_id = of_account
    and i.order_no = of_order and i.transaction_id = by and i.state = 'confirmed'
    and i.operation in ('capture', 'cancel')
  union all
  select case of_operation when 'refund' then 'shared_refund' else 'shared_transaction' end
  from tieout.instructions i
  where i.transaction_id = by and i.operation <> 'payout' and not i.is_void
    and (i.account_id = of_account) <> (i.order_no = of_order)
    and case when i.account_id <> of_account
        then replace(i.operation, 'cancel', 'capture') = replace(of_operation, 'cancel', 'capture')
      when of_operation = 'refund' then i.operation = 'refund'
      else (of_operation, i.operation) in (('capture', 'cancel'), ('cancel', 'capture')) end
  union all
  select 'by_hand'
  from tieout.gateway_calls c
  where c.account_id = of_account
    and replace(c.operation, 'cancel', 'capture') = replace(of_operation, 'cancel', 'capture')
    and (c.outcome is null or c.outcome not in ('rejected', 'not_sent'))
    -- the contrary of it only of this very transaction: the other of two may be let go by hand
    and c.entries @> any (array[
      case when c.operation = of_operation
        then jsonb_build_array(jsonb_build_object('order_no', of_order)) end,
      jsonb_build_array(jsonb_build_object('transaction_id', by))])
  union all
  select 'twin_request'
  from tieout.instructions i
  where of_operation = 'refund' and i.account_id = of_account and i.order_no = of_order
    and i.operation = 'refund' and i.refund_id <> of_refund
    and case when i.state = 'rejected' or i.is_refused then i.replan_id is null
        and (i.refund_amount = money or tieout.plain_id(i.refund_id) = tieout.plain_id(of_refund))
      else not i.is_void and tieout.plain_id(i.refund_id) = tieout.plain_id(of_refund) end
  union all
  select 'over_captured'
  from tieout.instructions i
  where of_operation = 'refund' and i.account_id = of_account and i.order_no = of_order
    and i.operation = 'capture' and i.state = 'confirmed' and i.transaction_id = by
    and i.amount < money + coalesce((
      select sum(paid.refund_amount) from tieout.instructions paid
      where paid.account_id = of_account and paid.transaction_id = by
        and paid.operation = 'refund' and not paid.is_void and paid.refund_id <> of_refund), 0)
  limit 1
$$;

-- Down Migration
create or replace function tieout.is_same_person(one text, other text)
returns boolean
language sql
immutable
as $$
  select lower(regexp_replace(btrim(one), '\s+', ' ', 'g'))
    = lower(regexp_replace(btrim(other), '\s+', ' ', 'g'))
$$;
create or replace function tieout.doubled(of_account text, of_order text, of_operation text,
  by text, of_refund text, money numeric)
returns table(reason text)
language sql
stable ROWS 1
as $$
  select 'second_capture'
  from tieout.instructions i
  where of_operation = 'capture' and i.account_id = of_account and i.order_no = of_order
    and i.operation = 'capture' and i.state = 'confirmed' and i.transaction_id <> by
  union all
  select 'moved_already'
  from tieout.instructions i
  where of_operation in ('capture', 'cancel') and i.account_id = of_account
    and i.order_no = of_order and i.transaction_id = by and i.state = 'confirmed'
    and i.operation in ('capture', 'cancel')
  union all
  select case of_operation when 'refund' then 'shared_refund' else 'shared_transaction' end
  from tieout.instructions i
  where i.transaction_id = by and i.operation <> 'payout' and not i.is_void
    and (i.account_id = of_account) <> (i.order_no = of_order)
    and case when i.account_id <> of_account
        then replace(i.operation, 'cancel', 'capture') = replace(of_operation, 'cancel', 'capture')
      when of_operation = 'refund' then i.operation = 'refund'
      else (of_operation, i.operation) in (('capture', 'cancel'), ('cancel', 'capture')) end
  union all
  select 'by_hand'
  from tieout.gateway_calls c
  where c.account_id = of_account
    and replace(c.operation, 'cancel', 'capture') = replace(of_operation, 'cancel', 'capture')
    and (c.outcome is null or c.outcome not in ('rejected', 'not_sent'))
    -- the contrary of it only of this very transaction: the other of two may be let go by hand
    and c.entries @> any (array[
      case when c.operation = of_operation
        then jsonb_build_array(jsonb_build_object('order_no', of_order)) end,
      jsonb_build_array(jsonb_build_object('transaction_id', by))])
  union all
  select 'twin_request'
  from tieout.instructions i
  where of_operation = 'refund' and i.account_id = of_account and i.order_no = of_order
    and i.operation = 'refund' and i.refund_id <> of_refund
    and case when i.state = 'rejected' or i.is_refused then i.replan_id is null
        and (i.refund_amount = money or lower(btrim(i.refund_id)) = lower(btrim(of_refund)))
      else not i.is_void and lower(btrim(i.refund_id)) = lower(btrim(of_refund)) end
  union all
  select 'over_captured'
  from tieout.instructions i
  where of_operation = 'refund' and i.account_id = of_account and i.order_no = of_order
    and i.operation = 'capture' and i.state = 'confirmed' and i.transaction_id = by
    and i.amount < money + coalesce((
      select sum(paid.refund_amount) from tieout.instructions paid
      where paid.account_id = of_account and paid.transaction_id = by
        and paid.operation = 'refund' and not paid.is_void and paid.refund_id <> of_refund), 0)
  limit 1
$$;
drop function tieout.plain_id;
drop function tieout.without_lookalikes;
