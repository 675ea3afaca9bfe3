-- Up Migration
-- A request that is dated more than a day ahead is a slip, as an order is (placed_instant): it went
-- at once, long before its time, and was younger than whatever asks what was there before.
do $do$
declare
  definition text := pg_get_functiondef('tieout.ledger_refunds()'::regprocedure);
  marked text := '      when length(r.reason) > 1000';
begin
  if strpos(definition, marked) = 0 then
    raise exception 'tieout.ledger_refunds is another one';
  end if;
  execute replace(definition, marked,
'      when tieout.placed_instant(r.requested_at) is null
        then ''its refund request '' || left(r.refund_id, 64) || '': requested_at ''
          || left(r.requested_text, 40) || '' lies more than a day ahead''
' || marked);
  definition := pg_get_functiondef('tieout.ledger_payouts()'::regprocedure);
  marked := 'else tieout.payout_problem(p.payload, p.requested_at) end';
  if strpos(definition, marked) = 0 then
    raise exception 'tieout.ledger_payouts is another one';
  end if;
  execute replace(definition, marked,
'else coalesce(tieout.payout_problem(p.payload, p.requested_at), case
        when tieout.placed_instant(p.requested_at) is null
        then ''its requested_at lies more than a day ahead'' end) end');
end $do$;

-- What was captured in another currency is nothing of what is asked back, nor adds what went back
-- in one up with it: both sides may call an order's money otherwise by now, and the order and its
-- account, too. A transaction is the gateway's.
do $do$
declare
  definition text :=
    pg_get_functiondef('tieout.doubled(text,text,text,text,text,numeric)'::regprocedure);
  signed text := 'of_refund text, money numeric)';
  captured text := 'where of_operation = ''refund'' and i.account_id = of_account '
    || 'and i.order_no = of_order
    and i.operation = ''capture'' and i.state = ''confirmed'' and i.transaction_id = by
    and i.amount < money + coalesce((';
  ended text := 'where paid.account_id = of_account and paid.transaction_id = by
        and paid.operation = ''refund'' and not paid.is_void and paid.refund_id <> of_refund), 0)';
begin
  if strpos(definition, signed) * strpos(definition, captured) * strpos(definition, ended) = 0 then
    raise exception 'tieout.doubled is another one';
  end if;
  definition := replace(definition, signed, 'of_refund text, money numeric, of_currency text)');
  definition := replace(definition, captured,
'where of_operation = ''refund''
    and i.operation = ''capture'' and i.state = ''confirmed'' and i.transaction_id = by
    and (i.currency <> of_currency or exists (
      select from tieout.instructions other
      where other.transaction_id = by and other.operation = ''refund'' and not other.is_void
        and other.currency <> of_currency
      ) or i.amount < money + coalesce((');
  execute replace(definition, ended,
'where paid.transaction_id = by and paid.operation = ''refund'' and not paid.is_void
        and (paid.account_id, paid.refund_id) <> (of_account, of_refund)), 0))');
  drop function tieout.doubled(text, text, text, text, text, numeric);
end $do$;

-- Down Migration
do $do$
declare
  definition text :=
    pg_get_functiondef('tieout.doubled(text,text,text,text,text,numeric,text)'::regprocedure);
begin
  definition := replace(definition, ', money numeric, of_currency text)', ', money numeric)');
  definition := replace(definition,
'where of_operation = ''refund''
    and i.operation = ''capture'' and i.state = ''confirmed'' and i.transaction_id = by
    and (i.currency <> of_currency or exists (
      select from tieout.instructions other
      where other.transaction_id = by and other.operation = ''refund'' and not other.is_void
        and other.currency <> of_currency
      ) or i.amount < money + coalesce((',
'where of_operation = ''refund'' and i.account_id = of_account and i.order_no = of_order
    and i.operation = ''capture'' and i.state = ''confirmed'' and i.transaction_id = by
    and i.amount < money + coalesce((');
  execute replace(definition,
'where paid.transaction_id = by and paid.operation = ''refund'' and not paid.is_void
        and (paid.account_id, paid.refund_id) <> (of_account, of_refund)), 0))',
'where paid.account_id = of_account and paid.transaction_id = by
        and paid.operation = ''refund'' and not paid.is_void and paid.refund_id <> of_refund), 0)');
  drop function tieout.doubled(text, text, text, text, text, numeric, text);
end $do$;
do $do$
begin
  execute replace(pg_get_functiondef('tieout.ledger_refunds()'::regprocedure),
'      when tieout.placed_instant(r.requested_at) is null
        then ''its refund request '' || left(r.refund_id, 64) || '': requested_at ''
          || left(r.requested_text, 40) || '' lies more than a day ahead''
', '');
  execute replace(pg_get_functiondef('tieout.ledger_payouts()'::regprocedure),
'else coalesce(tieout.payout_problem(p.payload, p.requested_at), case
        when tieout.placed_instant(p.requested_at) is null
        then ''its requested_at lies more than a day ahead'' end) end',
'else tieout.payout_problem(p.payload, p.requested_at) end');
end $do$;
