-- Up Migration
-- What an order was settled wrong by in all, each capture and refund for itself, is in the currency
-- of its movements, and at stake: where they were settled in two currencies, or one makes up for
-- the other, no two sums say it.
CREATE OR REPLACE FUNCTION tieout.break_money(kind text, currency text, expected jsonb,
  actual jsonb)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select case
    when kind in ('fee_variance', 'settlement_amount')
      and actual ->> 'off' ~ '^\d{1,18}(\.\d\d?)?$' and expected ->> 'currency' = currency
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
$function$;

-- Down Migration
CREATE OR REPLACE FUNCTION tieout.break_money(kind text, currency text, expected jsonb,
  actual jsonb)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE
AS $function$
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
$function$;
