-- Up Migration
-- What the gateway or a person refused, or a person found not made, is no less so where its
-- request, or its transaction, stands under another order, account or transaction by now: it waits
-- for a person, until the refused one is planned again. Payouts do so already.
do $$
declare
  was constant text :=
    pg_get_functiondef('tieout.doubled(text,text,text,text,text,numeric)'::regprocedure);
  becomes constant text := replace(was, $old$
  union all
  select 'over_captured'$old$, $new$
  union all
  select 'twin_request'
  from tieout.instructions i
  where of_operation = 'refund' and i.operation = 'refund' and i.refund_id = of_refund
    and (i.state = 'rejected' or i.is_refused) and i.replan_id is null
    and (i.account_id, i.order_no, i.transaction_id) <> (of_account, of_order, by)
    -- another shop may number its requests alike
    and (i.account_id = of_account or i.transaction_id = by or i.refund_amount = money)
  union all
  select 'twin_request'
  from tieout.instructions i
  where of_operation in ('capture', 'cancel') and i.operation = of_operation
    and i.operation in ('capture', 'cancel') and i.transaction_id = by
    and (i.state = 'rejected' or i.is_refused) and i.replan_id is null
    and (i.account_id, i.order_no) <> (of_account, of_order)
  union all
  select 'over_captured'$new$);
begin
  if becomes = was then
    raise exception 'tieout.doubled is not what this migration knows';
  end if;
  execute becomes;
end $$;
create index instructions_refused on tieout.instructions (transaction_id)
  where operation in ('capture', 'cancel') and (state = 'rejected' or is_refused);

-- Down Migration
drop index tieout.instructions_refused;
do $$ begin
  execute regexp_replace(
    pg_get_functiondef('tieout.doubled(text,text,text,text,text,numeric)'::regprocedure),
    $old$\n  union all\n  select 'twin_request'\n  from tieout.instructions i\n$old$
      || $old$  where of_operation = 'refund' and i.operation = 'refund' and i.refund_id = $old$
      || $old$of_refund\n.*(\n  union all\n  select 'over_captured')$old$,
    '\1');
end $$;
