-- Up Migration
-- A payout that a journal names, and whose very request the database has lost with it, is known by
-- its money alone: what comes in its place bears another number and the date of its import.
create index lost_permits_of_payouts on tieout.lost_permits (tieout.amount_in(amount))
  where operation = 'payout';

-- Payouts that were sent before the database was put back, of whatever account, whose request is
-- known to nobody any more, and for which this one may stand: it is of the same money, and was
-- weighed first within a fortnight of the find, or before it.
create function tieout.lost_twins(account text, request text, of_currency text, money numeric,
  payload jsonb, now timestamptz)
returns setof tieout.lost_permits language sql stable rows 1 as $$
  select l.*
  from tieout.lost_permits l
  -- a person types what the document of the gateway has, in its unit
  where l.operation = 'payout' and tieout.amount_in(l.amount) in (
      money, tieout.amount_in(payload ->> 'payment_amount'))
    and upper(l.currency) = of_currency and lower(l.order_no) <> request
    and l.found_at + interval '14 days' >= coalesce((
      select min(i.created_at) from tieout.instructions i
      where i.operation = 'payout' and i.account_id = account and i.transaction_id = request), now)
    and not exists (
      select from tieout.instructions i
      where i.operation = 'payout' and i.transaction_id = lower(l.order_no) offset 0)
    and not exists (
      select from tieout.ledger_payouts() p where p.request_id = lower(l.order_no) offset 0)
$$;

-- Down Migration
drop function tieout.lost_twins(text, text, text, numeric, jsonb, timestamptz);
drop index tieout.lost_permits_of_payouts;
