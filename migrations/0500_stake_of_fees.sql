-- Up Migration
-- Of a fee that is not the agreed one the difference is at stake, too, as the tie counts it: of
-- 9.97 where 10.04 was agreed 0.07, and not 10.04.
create or replace function tieout.break_money(kind text, currency text, expected jsonb,
  actual jsonb)
returns numeric language sql immutable as $$
  select tieout.break_stake(case
    when kind in ('settlement_amount', 'settled_twice', 'fee_variance')
      and expected ->> 'currency' = actual ->> 'currency'
      and actual ? 'amount' and expected ? 'amount'
    then 'amount_mismatch' else kind end,
    case when expected ->> 'currency' <> currency then expected - 'amount' else expected end,
    case when actual ->> 'currency' <> currency then actual - 'amount' else actual end)
$$;

-- Down Migration
create or replace function tieout.break_money(kind text, currency text, expected jsonb,
  actual jsonb)
returns numeric language sql immutable as $$
  select tieout.break_stake(case
    when kind in ('settlement_amount', 'settled_twice')
      and expected ->> 'currency' = actual ->> 'currency'
      and actual ? 'amount' and expected ? 'amount'
    then 'amount_mismatch' else kind end,
    case when expected ->> 'currency' <> currency then expected - 'amount' else expected end,
    case when actual ->> 'currency' <> currency then actual - 'amount' else actual end)
$$;
