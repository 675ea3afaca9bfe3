-- Up Migration
-- Of what the acquirer settled otherwise, or twice, the difference is at stake, as of any amount
-- that differs: the whole settled amount was shown beside a tie that counts the difference.
create or replace function tieout.break_money(kind text, expected jsonb, actual jsonb)
returns numeric language sql immutable as $$
  select tieout.break_stake(case
    when kind in ('settlement_amount', 'settled_twice')
      and expected ->> 'currency' = actual ->> 'currency'
      and actual ? 'amount' and expected ? 'amount'
    then 'amount_mismatch' else kind end, expected, case
    when expected ->> 'currency' <> actual ->> 'currency' then actual - 'amount' else actual end)
$$;

-- Down Migration
create or replace function tieout.break_money(kind text, expected jsonb, actual jsonb)
returns numeric language sql immutable as $$
  select tieout.break_stake(kind, expected, case
    when expected ->> 'currency' <> actual ->> 'currency' then actual - 'amount' else actual end)
$$;
