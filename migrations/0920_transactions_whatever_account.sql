-- Up Migration
-- A transaction is the gateway's, whatever an account is called: two may be one there, or one is
-- called otherwise by now. What was taken back of it, moved by hand or lost stands in the way of
-- each; of payouts the id of the request says which one it is.
do $do$
declare
  one record;
  definition text;
begin
  for one in values
    ('tieout.doubled(text,text,text,text,text,numeric)',
  '  where c.account_id = of_account
    and replace(c.operation',
  '  where (c.account_id = of_account
      or c.entries @> jsonb_build_array(jsonb_build_object(''transaction_id'', by)))
    and replace(c.operation'),
    ('tieout.calls_seen(tieout.instructions)',
  'and c.account_id = i.account_id
    and (c.outcome',
  'and (c.account_id = i.account_id or e ->> ''transaction_id'' = i.transaction_id)
    and (c.outcome'),
    ('tieout.put_back_seen(tieout.instructions)',
  'where l.account_id = i.account_id and (l.order_no = i.order_no
        or l.refund_id = i.refund_id or l.transaction_id = i.transaction_id)',
  'where l.transaction_id = i.transaction_id or l.account_id = i.account_id
        and (l.order_no = i.order_no or l.refund_id = i.refund_id)'),
    ('tieout.waited_before(text,text,text)',
  'and i.transaction_id = payout and i.account_id = of_account and i.state',
  'and i.transaction_id = payout and i.state'),
    ('tieout.has_dispute(text,text,text)',
  'and d.account_id collate "C" = of_account and d.transaction_id collate "C" = by',
  'and d.transaction_id collate "C" = by'),
    ('tieout.disputes_seen(tieout.instructions)',
  'where one.account_id collate "C" = i.account_id
      and one.transaction_id collate "C" = i.transaction_id',
  'where one.transaction_id collate "C" = i.transaction_id')
  loop
    definition := pg_get_functiondef(one.column1::regprocedure);
    if strpos(definition, one.column2) = 0 then
      raise exception '% is not what this migration knows', one.column1;
    end if;
    execute replace(definition, one.column2, one.column3);
  end loop;
end $do$;
create index lost_permits_by_transaction on tieout.lost_permits (transaction_id);
-- A merchant may have put a view in its place.
do $$ begin
  if (select relkind from pg_class where oid = 'ledger.disputes'::regclass) = 'r' then
    create index disputes_of_transaction on ledger.disputes (transaction_id)
      where transaction_id is not null;
  end if;
end $$;

-- With those of every other account that knows the transaction, by the order that it has it under.
alter function tieout.chargebacks_about(text, text, text) rename to chargebacks_of_account;
create function tieout.chargebacks_about(of_account text, of_order text, by text)
returns bigint[] language sql stable as $$
  with knows as materialized (
    select of_account as account_id, of_order as order_no
    union
    select l.account_id, l.order_no from tieout.settlement_lines l where l.transaction_id = by
    union
    select m.account_id, m.order_no from tieout.movement_books b
    join tieout.movements m on m.account_id = b.account_id and m.transaction_id = by
    union
    select i.account_id, i.order_no from tieout.instructions i
    where i.transaction_id = by and i.operation <> 'payout' and not i.is_void
  )
  select array(
    select distinct line from knows
    cross join unnest(tieout.chargebacks_of_account(account_id, order_no, by)) as line
    where account_id <> of_account or order_no = of_order)
$$;
create or replace function tieout.disputed_money()
returns table(account_id text, order_no text, transaction_id text)
language sql
stable
as $$
  with charged as materialized (
    select * from tieout.not_reversed(array(
      select settlement_line_id from tieout.settlement_lines
      where type in ('chargeback', 'chargeback_reversed')))
  )
  select d.account_id, d.order_no, d.transaction_id
  from tieout.ledger_disputes() d
  where coalesce(d.stage, '') not in ('won', 'withdrawn')
  union all
  select account_id, place, null from charged
  union all
  select account_id, named, null from charged cross join unnest(order_nos) as o (named)
  union all
  select account_id, null, named from charged cross join unnest(transaction_ids) as t (named)
  union all
  -- what the account knew of the order that its line names
  select c.account_id, null, known.transaction_id
  from charged c
  cross join lateral (
    select m.transaction_id from tieout.movements m
    where m.account_id = c.account_id and m.order_no = c.place
    union
    select i.transaction_id from tieout.instructions i
    where i.account_id = c.account_id and i.order_no = c.place
      and i.operation <> 'payout' and not i.is_void
  ) known
$$;

-- Down Migration
create or replace function tieout.disputed_money()
returns table(account_id text, order_no text, transaction_id text)
language sql
stable
as $$
  with charged as materialized (
    select * from tieout.not_reversed(array(
      select settlement_line_id from tieout.settlement_lines
      where type in ('chargeback', 'chargeback_reversed')))
  )
  select d.account_id, d.order_no, d.transaction_id
  from tieout.ledger_disputes() d
  where coalesce(d.stage, '') not in ('won', 'withdrawn')
  union all
  select account_id, place, null from charged
  union all
  select account_id, named, null from charged cross join unnest(order_nos) as o (named)
  union all
  select account_id, null, named from charged cross join unnest(transaction_ids) as t (named)
$$;
drop function tieout.chargebacks_about(text, text, text);
alter function tieout.chargebacks_of_account(text, text, text) rename to chargebacks_about;
drop index if exists ledger.disputes_of_transaction;
drop index tieout.lost_permits_by_transaction;
do $do$
declare
  one record;
  definition text;
begin
  for one in values
    ('tieout.disputes_seen(tieout.instructions)',
  'where one.transaction_id collate "C" = i.transaction_id',
  'where one.account_id collate "C" = i.account_id
      and one.transaction_id collate "C" = i.transaction_id'),
    ('tieout.has_dispute(text,text,text)',
  'and d.transaction_id collate "C" = by',
  'and d.account_id collate "C" = of_account and d.transaction_id collate "C" = by'),
    ('tieout.waited_before(text,text,text)',
  'and i.transaction_id = payout and i.state',
  'and i.transaction_id = payout and i.account_id = of_account and i.state'),
    ('tieout.put_back_seen(tieout.instructions)',
  'where l.transaction_id = i.transaction_id or l.account_id = i.account_id
        and (l.order_no = i.order_no or l.refund_id = i.refund_id)',
  'where l.account_id = i.account_id and (l.order_no = i.order_no
        or l.refund_id = i.refund_id or l.transaction_id = i.transaction_id)'),
    ('tieout.calls_seen(tieout.instructions)',
  'and (c.account_id = i.account_id or e ->> ''transaction_id'' = i.transaction_id)
    and (c.outcome',
  'and c.account_id = i.account_id
    and (c.outcome'),
    ('tieout.doubled(text,text,text,text,text,numeric)',
  '  where (c.account_id = of_account
      or c.entries @> jsonb_build_array(jsonb_build_object(''transaction_id'', by)))
    and replace(c.operation',
  '  where c.account_id = of_account
    and replace(c.operation')
  loop
    definition := pg_get_functiondef(one.column1::regprocedure);
    execute replace(definition, one.column2, one.column3);
  end loop;
end $do$;
