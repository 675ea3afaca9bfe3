-- Up Migration
-- What the acquirer's files settle as refunded of an order, beside what the gateway shows of it: of
-- a part that was given back elsewhere nobody else says how much. Lines of refunds that we made are
-- none of it. null: there is none.
create function tieout.settled_refunds(of_account text, of_order text, of_transaction text)
returns jsonb language sql stable as $$
  select jsonb_agg(jsonb_build_object('amount', round(abs(l.amount), 2)::text,
    'currency', l.currency, 'batch', l.batch) order by l.booked_at, l.settlement_line_id)
  from (
    select * from tieout.settlement_lines
    where account_id = of_account and order_no = of_order
    union
    select * from tieout.settlement_lines
    where account_id = of_account and transaction_id = of_transaction
  ) l
  where l.type = 'refunded' and not exists (
    select from tieout.settlement_matches t join tieout.movements m using (movement_id)
    where t.settlement_line_id = l.settlement_line_id and m.made = 'here')
$$;

-- Down Migration
drop function tieout.settled_refunds(text, text, text);
