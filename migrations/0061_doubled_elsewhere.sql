-- Up Migration
-- What looks like the same movement once more is asked about wherever the first one stands: in
-- another account, under another order, as the other of capture and cancel, by a person's hand, or
-- under an id that differs in case and space alone. And no more goes back than we captured,
-- whatever the ledger says by now. Reasons to hold that an approval overrules, as long as it was
-- given in sight of them (core/decision.ts).
do $$ begin
  execute regexp_replace(pg_get_functiondef('tieout.guard_decision()'::regprocedure),
    '(hold_reason not in \([^)]*)\)',
    '\1, ''shared_transaction'', ''by_hand'', ''twin_request'', ''over_captured'')');
end $$;

create index instructions_by_transaction on tieout.instructions (transaction_id)
  where operation <> 'payout' and not is_void;
drop index tieout.instructions_refunds;

drop function tieout.doubled(text, text, text, text);
-- Why this movement may be one that was made already; no row: it is not. Asked for each order that
-- is planned, and once more before it leaves. Two accounts are one at the gateway where they have
-- the same transaction of the same order.
create function tieout.doubled(of_account text, of_order text, of_operation text, by text,
  of_refund text, money numeric)
returns table (reason text) language sql stable rows 1 as $$
  select 'second_capture'
  from tieout.instructions i
  where of_operation = 'capture' and i.account_id = of_account and i.order_no = of_order
    and i.operation = 'capture' and i.state = 'confirmed' and i.transaction_id <> by
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
  where c.account_id = of_account and c.operation = of_operation
    and (c.outcome is null or c.outcome not in ('rejected', 'not_sent'))
    and c.entries @> any (array[
      jsonb_build_array(jsonb_build_object('order_no', of_order)),
      jsonb_build_array(jsonb_build_object('transaction_id', by))])
  union all
  select 'twin_request'
  from tieout.instructions i
  where of_operation = 'refund' and i.account_id = of_account and i.order_no = of_order
    and i.operation = 'refund' and not i.is_void and i.refund_id <> of_refund
    and lower(btrim(i.refund_id)) = lower(btrim(of_refund))
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
drop function tieout.doubled(text, text, text, text, text, numeric);
create function tieout.doubled(of_account text, of_order text, of_operation text, by text)
returns table (reason text) language sql stable rows 1 as $$
  select 'second_capture'
  from tieout.instructions i
  where of_operation = 'capture' and i.account_id = of_account and i.order_no = of_order
    and i.operation = 'capture' and i.state = 'confirmed' and i.transaction_id <> by
  union all
  select 'shared_refund'
  from tieout.instructions i
  where of_operation = 'refund' and i.account_id = of_account and i.transaction_id = by
    and i.operation = 'refund' and not i.is_void and i.order_no <> of_order
  limit 1
$$;
drop index tieout.instructions_by_transaction;
create index instructions_refunds on tieout.instructions (account_id, transaction_id)
  where operation = 'refund' and not is_void;
do $$ begin
  execute replace(pg_get_functiondef('tieout.guard_decision()'::regprocedure),
    ', ''shared_transaction'', ''by_hand'', ''twin_request'', ''over_captured''', '');
end $$;
