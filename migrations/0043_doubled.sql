-- Up Migration
-- What looks like the same movement once more, by another transaction or for another order, waits
-- for a person: two reasons to hold that an approval overrules, as long as it was given in sight of
-- them (core/decision.ts).
do $$ begin
  execute regexp_replace(pg_get_functiondef('tieout.guard_decision()'::regprocedure),
    '(hold_reason not in \([^)]*)\)', '\1, ''second_capture'', ''shared_refund'')');
end $$;

create index instructions_refunds on tieout.instructions (account_id, transaction_id)
  where operation = 'refund' and not is_void;

-- Why this movement may be one that we made already; no row: it is not. Asked for each order that
-- is planned, and once more before it leaves.
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

-- Down Migration
drop function tieout.doubled(text, text, text, text);
drop index tieout.instructions_refunds;
do $$ begin
  execute replace(pg_get_functiondef('tieout.guard_decision()'::regprocedure),
    ', ''second_capture'', ''shared_refund''', '');
end $$;
