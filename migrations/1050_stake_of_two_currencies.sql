-- Up Migration
-- Where the gateway shows another currency than the ledger, what the gateway shows is at stake in
-- each break of the order, in that currency: a refund of pounds was counted as one of yen, and an
-- amount that differs as one without an amount. Figures of two currencies have no difference. One
-- that opened before keeps the currency that it opened with.
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
      then 'amount_mismatch'
      when kind = 'amount_mismatch' and expected ->> 'currency' <> actual ->> 'currency'
        and actual ->> 'currency' = currency
      then 'currency_mismatch' else kind end,
      case when expected ->> 'currency' <> currency then expected - 'amount' else expected end,
      case when actual ->> 'currency' <> currency then actual - 'amount' else actual end)
  end
$$;

-- Down Migration
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
