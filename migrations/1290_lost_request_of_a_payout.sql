-- Up Migration
-- A payout that a journal names, and whose very request the database has lost with it, is known by
-- its money alone: what comes in its place bears another number and the date of its import.
create index lost_permits_of_payouts on tieout.lost_permits (tieout.amount_in(amount))
  where operation = 'payout';

-- What was sent, or perhaps, before the database was put back: all that was lost but what the host
-- that sent it knows by now to have moved nothing. Its answer may come after the loss is entered.
create view tieout.lost_moves as
select l.* from tieout.lost_permits l
where not exists (
  select from tieout.gateway_calls c
  where c.permit_id = l.attempt_id and c.outcome in ('rejected', 'not_sent'));

-- Payouts of these sums that were sent before the database was put back, of whatever account, and
-- whose request is known to nobody any more. For many payouts it is asked once: at most one read of
-- all requests of the ledger, and none where nothing was lost.
create function tieout.stray_payouts(sums numeric[])
returns table (attempt_id uuid, entry int, currency text, money numeric, found_at timestamptz)
language sql stable rows 1 as $$
  with lost as materialized (
    select l.attempt_id, l.entry, upper(l.currency) as currency,
      tieout.amount_in(l.amount) as money, l.found_at, lower(l.order_no) as request_id
    from tieout.lost_moves l
    where l.operation = 'payout' and tieout.amount_in(l.amount) = any (sums)
      and l.order_no is not null and not exists (
        select from tieout.instructions i
        where i.operation = 'payout' and i.transaction_id = lower(l.order_no) offset 0)
  ),
  -- "is true" keeps the small list a table to look into; joined, the ledger was read for each row
  asked as materialized (
    select p.request_id from tieout.ledger_payouts() p
    where (p.request_id in (select lost.request_id from lost)) is true
  )
  select lost.attempt_id, lost.entry, lost.currency, lost.money, lost.found_at from lost
  where (lost.request_id in (select asked.request_id from asked)) is not true
$$;

-- A payout may stand for a stray one that was found then: it was weighed first within a fortnight
-- of the find, or before it.
create function tieout.came_by(found timestamptz, account text, request text, now timestamptz)
returns boolean language sql stable as $$
  select found + interval '14 days' >= coalesce((
    select min(i.created_at) from tieout.instructions i
    where i.operation = 'payout' and i.account_id = account and i.transaction_id = request), now)
$$;

-- Which of these payouts may stand for a stray one. A person types what the document of the gateway
-- has, in its unit.
create function tieout.lost_twins(payouts jsonb, now timestamptz)
returns table (account_id text, request_id text) language sql stable as $$
  with payout as materialized (
    select p.account_id, p.request_id, p.currency, p.amount,
      tieout.amount_in(p.payload ->> 'payment_amount') as typed
    from jsonb_to_recordset(payouts) as p (
      account_id text, request_id text, currency text, amount numeric, payload jsonb)
  ),
  stray as materialized (
    select l.money, l.currency, max(l.found_at) as found_at
    from tieout.stray_payouts(array(
      select amount from payout union select typed from payout)) l
    group by l.money, l.currency
  )
  select p.account_id, p.request_id
  from payout p
  left join stray l on l.money = p.amount and l.currency = p.currency
  left join stray t on t.money = p.typed and t.currency = p.currency
  where case when num_nonnulls(l.found_at, t.found_at) > 0
    then tieout.came_by(greatest(l.found_at, t.found_at), p.account_id, p.request_id, now) end
$$;

-- The money of a lost payout whose amount stands in that unit, as this one of the same request or
-- sum has it; null: the amount is the money.
create function tieout.typed_money(l tieout.lost_permits, i tieout.instructions)
returns text language sql stable as $$
  select case when l.operation = 'payout' and i.operation = 'payout' and i.is_in_totals
    and tieout.amount_in(l.amount) <> i.amount
    and tieout.amount_in(l.amount) = tieout.amount_in(i.payload ->> 'payment_amount')
    then i.amount::text end
$$;

-- Down Migration
drop function tieout.typed_money(tieout.lost_permits, tieout.instructions);
drop function tieout.lost_twins(jsonb, timestamptz);
drop function tieout.came_by(timestamptz, text, text, timestamptz);
drop function tieout.stray_payouts(numeric[]);
drop view tieout.lost_moves;
drop index tieout.lost_permits_of_payouts;
