-- Up Migration
-- Lines of one order whose fees differ from what was agreed in opposite ways do not make up for
-- each other: what is at stake in their break is what each of them is off, which the break says.
create or replace function tieout.break_money(kind text, currency text, expected jsonb,
  actual jsonb)
returns numeric language sql immutable as $$
  select case
    when kind = 'fee_variance' and actual ->> 'off' ~ '^\d{1,18}(\.\d\d?)?$'
      and expected ->> 'currency' = currency and actual ->> 'currency' = currency
    then (actual ->> 'off')::numeric
    else tieout.break_stake(case
      when kind in ('settlement_amount', 'settled_twice', 'fee_variance')
        and expected ->> 'currency' = actual ->> 'currency'
        and actual ? 'amount' and expected ? 'amount'
      then 'amount_mismatch' else kind end,
      case when expected ->> 'currency' <> currency then expected - 'amount' else expected end,
      case when actual ->> 'currency' <> currency then actual - 'amount' else actual end)
  end
$$;

-- Down Migration
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
